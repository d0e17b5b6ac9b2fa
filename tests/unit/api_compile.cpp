// Captured callables: what they give, what they change, and when they are captured again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <plumb/plumb.h>

namespace {

using namespace plumb;
using testing::ElementsAre;
using testing::HasSubstr;

template <class F> std::string error_of(F f) {
  try {
    f();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no error";
}
std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(Compile, GivesWhatTheCallableGives) {
  const auto f = [](const Tensor& x, const Tensor& y) { return relu(matmul(x, y)) + 1; };
  const auto x = tensor({{1.0, -2.0}, {3.0, 4.0}}), y = tensor({{1.0, 0.0}, {2.0, -1.0}});
  for (const char* target : {"cpu", "simt", "reference"}) {
    const auto g = compile(f, {.target = target});
    EXPECT_EQ(floats(g(x, y)), floats(f(x, y))) << target;
    EXPECT_EQ(floats(g(x, y)), floats(f(x, y))) << target;
    EXPECT_EQ(g.statistics().captures, 1);
  }
}

TEST(Compile, CapturesAgainForOtherSizesDTypesAndNumbers) {
  int runs = 0;
  const auto f = compile([&](const Tensor& x, int n) { return ++runs, x * n; });
  EXPECT_THAT(floats(f(tensor({1.0, 2.0}), 3)), ElementsAre(3, 6));
  EXPECT_THAT(floats(f(tensor({5.0, 2.0}), 3)), ElementsAre(15, 6));
  EXPECT_EQ(runs, 1);
  EXPECT_THAT(floats(f(tensor({1.0}), 3)), ElementsAre(3));
  EXPECT_THAT(floats(f(tensor({1.0}), 4)), ElementsAre(4));
  EXPECT_EQ(f(tensor({1}), 4).dtype(), kLong);
  EXPECT_EQ(runs, 4);
  EXPECT_THAT(f.statistics().last_reason, HasSubstr("i64[1]"));
}

TEST(Compile, ReadsAndWritesTensorsFromOutside) {
  auto state = tensor({1.0, 1.0});
  const auto f = compile([&](const Tensor& x) {
    state.add_(x);
    state[0].mul_(2);
    return state * 10;
  });
  EXPECT_THAT(floats(f(tensor({1.0, 2.0}))), ElementsAre(40, 30));
  EXPECT_THAT(floats(state), ElementsAre(4, 3));
  EXPECT_THAT(floats(f(tensor({1.0, 2.0}))), ElementsAre(100, 50));
  EXPECT_THAT(floats(state), ElementsAre(10, 5));
  state.zero_();
  EXPECT_THAT(floats(f(tensor({1.0, 2.0}))), ElementsAre(20, 20));
}

TEST(Compile, DrawsFromTheGeneratorAtEachCall) {
  const auto f = compile([](const Tensor& x) { return x + randn({3}); });
  manual_seed(5);
  const auto a = randn({3}), b = randn({3});
  manual_seed(5);
  EXPECT_EQ(floats(f(zeros({3}))), floats(a));
  EXPECT_EQ(floats(f(zeros({3}))), floats(b));
}

TEST(Compile, IsDifferentiableAndCompilesTransforms) {
  auto w = tensor({2.0, 3.0}, requires_grad(true));
  const auto f = compile([&](const Tensor& x) { return (x * w * w).sum(); });
  f(tensor({1.0, 10.0})).backward();
  EXPECT_THAT(floats(w.grad()), ElementsAre(4, 60));
  const auto cube = [](const Tensor& x) { return (x * x * x).sum(); };
  const auto x = tensor({1.0, 2.0});
  EXPECT_THAT(floats(compile(grad(cube))(x)), ElementsAre(3, 12));
  EXPECT_THAT(floats(grad(compile(cube))(x)), ElementsAre(3, 12));
  EXPECT_THAT(floats(compile(hessian(cube))(x)), ElementsAre(6, 0, 0, 12));
  const auto [y, u] = compile(jvp(cube))(x, tensor({1.0, 0.0}));
  EXPECT_EQ(u.item<float>(), 3);
  EXPECT_EQ(y.item<float>(), 9);
}

TEST(Compile, AWholeTrainingStep) {
  const auto train = [](bool compiled) {
    manual_seed(11);
    auto w = randn({3, 2}, requires_grad(true)), b = zeros({2}, requires_grad(true));
    const auto step = [&](const Tensor& x, const Tensor& y) {
      w.zero_grad(), b.zero_grad();
      const auto loss = cross_entropy(matmul(x, w) + b, y);
      loss.backward();
      const NoGradGuard off;
      w.sub_(w.grad(), 0.5);
      b.sub_(b.grad(), 0.5);
      return loss.detach();
    };
    const auto x = randn({8, 3}), y = randint(0, 2, {8});
    std::vector<float> losses;
    const auto fast = compile(step, {.check = Check::kernel, .contract = "strict"});
    for (int k = 0; k < 5; ++k) losses.push_back((compiled ? fast(x, y) : step(x, y)).item<float>());
    EXPECT_TRUE(w.grad().defined());
    EXPECT_LE(fast.statistics().captures, 2) << "gradients undefined, then defined";
    return std::tuple{losses, floats(w), floats(b), floats(w.grad())};
  };
  const auto eager = train(false);
  EXPECT_EQ(train(true), eager) << "strict: the same bits";
  EXPECT_LT(std::get<0>(eager).back(), std::get<0>(eager).front());
}

TEST(Compile, AccumulatesGradientsAsTheTapeDoes) {
  auto w = tensor({1.0, 2.0}, requires_grad(true));
  const auto f = compile([&](const Tensor& x) { (x * w).sum().backward(); });
  f(tensor({1.0, 3.0}));
  EXPECT_THAT(floats(w.grad()), ElementsAre(1, 3));
  f(tensor({1.0, 3.0}));
  EXPECT_THAT(floats(w.grad()), ElementsAre(2, 6));
  f(tensor({1.0, 3.0}));
  EXPECT_THAT(floats(w.grad()), ElementsAre(3, 9));
  w.zero_grad();
  f(tensor({1.0, 3.0}));
  EXPECT_THAT(floats(w.grad()), ElementsAre(1, 3));
}

TEST(Compile, NamesWhatACaptureCannotDo) {
  EXPECT_THAT(error_of([] { compile([](const Tensor& x) { return x * x.sum().item<float>(); })(tensor({1.0})); }), HasSubstr("not known while a function is captured"));
  Tensor escaped;
  compile([&](const Tensor& x) { return escaped = x + 1; })(tensor({1.0}));
  EXPECT_THAT(error_of([&] { escaped + 1; }), HasSubstr("capture"));
  EXPECT_THAT(error_of([] { compile([](const Tensor& x) { return x; }, {.target = "tpu"}); }), HasSubstr("target 'tpu'"));
  EXPECT_THAT(error_of([] { compile([](const Tensor& x) { return x; }, {.contract = "loose"}); }), HasSubstr("strict, relaxed or fast"));
}

TEST(Compile, ReportsChecks) {
  CheckReport last;
  const auto f = compile([](const Tensor& x) { return softmax(x, 1); }, {.check = Check::full, .on_report = [&](const CheckReport& r) { last = r; }});
  f(randn({4, 33}));
  EXPECT_GE(last.kernels, 1);
  EXPECT_GT(last.decided, 0);
  EXPECT_TRUE(last.failures.empty());
}

}  // namespace

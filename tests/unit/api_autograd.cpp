// The tape: gradients against values worked out by hand, and the misuse that it must name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <plumb/plumb.h>

#include <cmath>

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
Tensor leaf(const TensorData& d) { return tensor(d, requires_grad(true)); }

TEST(Autograd, OfAProduct) {
  auto x = leaf({2.0, 3.0}), y = leaf({5.0, 7.0});
  (x * y).sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(5, 7));
  EXPECT_THAT(floats(y.grad()), ElementsAre(2, 3));
  (x * y).sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(10, 14)) << "gradients accumulate";
  x.zero_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, OfAMatrixProductWithBroadcastBias) {
  auto x = leaf({{1.0, 2.0}, {3.0, 4.0}}), w = leaf({{1.0, 0.0}, {2.0, 1.0}}), b = leaf({0.5, -0.5});
  (matmul(x, w) + b).sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(1, 3, 1, 3));
  EXPECT_THAT(floats(w.grad()), ElementsAre(4, 4, 6, 6));
  EXPECT_THAT(floats(b.grad()), ElementsAre(2, 2));
}

TEST(Autograd, OfCrossEntropyIsSoftmaxMinusOneHot) {
  auto x = leaf({{0.0, 0.0, 0.0, 0.0}});
  cross_entropy(x, tensor({2})).backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(0.25, 0.25, -0.75, 0.25));
}

TEST(Autograd, HigherOrders) {
  auto x = leaf({2.0});
  const auto y = x.pow(3).sum();
  const auto g = grad({y}, {x}, {}, {.create_graph = true})[0];
  EXPECT_THAT(floats(g), ElementsAre(12));
  const auto h = grad({g.sum()}, {x}, {}, {.create_graph = true})[0];
  EXPECT_THAT(floats(h), ElementsAre(12));
  EXPECT_THAT(floats(grad({h.sum()}, {x})[0]), ElementsAre(6));
}

TEST(Autograd, GoesThroughViewsAndChangesInPlace) {
  auto x = leaf({1.0, 2.0, 3.0, 4.0});
  auto y = x * 1.0;
  auto v = y.view({2, 2});
  v[0].mul_(10);                      // y = (10, 20, 3, 4)
  auto w = y.slice(0, 1, 3);          // (20, 3)
  y.add_(1);                          // seen by v and w
  (v.sum() + w.pow(2).sum()).backward();
  // d/dx0 = 10; x1 counts in v and in w: 10 + 2·21·10; x2: 1 + 2·4; x3: 1
  EXPECT_THAT(floats(x.grad()), ElementsAre(10, 430, 9, 1));
}

TEST(Autograd, OfExpandedThenAddedInPlaceToACopy) {
  auto x = leaf({3.0});
  auto y = x.expand({4}).clone();
  y.mul_(tensor({1.0, 2.0, 3.0, 4.0}));
  y.sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(10));
}

TEST(Autograd, AChangedOperandIsAnErrorThatNamesBothLines) {
  auto x = leaf({1.0, 2.0});
  auto y = x * 2;
  const int used = __LINE__ + 1;
  const auto z = y * y;
  const int changed = __LINE__ + 1;
  y.add_(1);
  const auto message = error_of([&] { z.sum().backward(); });
  EXPECT_THAT(message, HasSubstr("api_autograd.cpp:" + std::to_string(used) + ": mul"));
  EXPECT_THAT(message, HasSubstr("changed in place at"));
  EXPECT_THAT(message, HasSubstr("api_autograd.cpp:" + std::to_string(changed)));
}

TEST(Autograd, MisuseIsNamed) {
  auto x = leaf({1.0, 2.0});
  EXPECT_THAT(error_of([&] { x.add_(1); }), HasSubstr("NoGradGuard"));
  EXPECT_THAT(error_of([&] { x[0].zero_(); }), HasSubstr("a view of a leaf"));
  EXPECT_THAT(error_of([&] { (x * 2).backward(); }), HasSubstr("reduce it to one"));
  EXPECT_THAT(error_of([&] { tensor({1.0}).backward(); }), HasSubstr("requires a gradient"));
  EXPECT_THAT(error_of([&] { tensor({1}).requires_grad_(); }), HasSubstr("only floats"));
  const auto y = (x * x).sum();
  y.backward();
  EXPECT_THAT(error_of([&] { y.backward(); }), HasSubstr("retain_graph"));
  EXPECT_THAT(error_of([&] { grad({(x * 1).sum()}, {leaf({1.0})}); }), HasSubstr("do not depend on input 0"));
}

TEST(Autograd, NoGradDetachAndHooks) {
  auto x = leaf({1.0, 2.0});
  {
    const NoGradGuard off;
    EXPECT_FALSE((x * 2).requires_grad());
    x.mul_(3);
  }
  EXPECT_THAT(floats(x), ElementsAre(3, 6));
  auto y = x * 2;
  std::vector<float> seen;
  y.register_hook([&](const Tensor& g) { return seen = floats(g), g * 10; });
  y.retain_grad();
  (y * tensor({1.0, -1.0}) + x.detach()).sum().backward();
  EXPECT_THAT(seen, ElementsAre(1, -1));
  EXPECT_THAT(floats(y.grad()), ElementsAre(10, -10));
  EXPECT_THAT(floats(x.grad()), ElementsAre(20, -20));
}

struct Cube : Function<Cube> {
  static std::vector<Tensor> forward(AutogradContext& c, const std::vector<Tensor>& x) {
    c.save_for_backward(x);
    return {x[0] * x[0] * x[0]};
  }
  static std::vector<Tensor> backward(AutogradContext& c, const std::vector<Tensor>& g) {
    const auto x = c.get_saved_variables()[0];
    return {g[0] * 3 * x * x};
  }
};
struct WrongCube : Function<WrongCube> {
  static std::vector<Tensor> forward(AutogradContext& c, const std::vector<Tensor>& x) { return Cube::forward(c, x); }
  static std::vector<Tensor> backward(AutogradContext& c, const std::vector<Tensor>& g) { return {Cube::backward(c, g)[0] * 1.001}; }
};

TEST(Autograd, CustomFunctionsAreCheckable) {
  auto x = leaf({2.0, -1.0});
  Cube::apply({x})[0].sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(12, 3));
  const auto by = [](auto f) { return [f](const std::vector<Tensor>& in) { return f(in); }; };
  EXPECT_TRUE(check_gradients(by([](const auto& in) { return Cube::apply(in); }), {x}).passed);
  const auto wrong = check_gradients(by([](const auto& in) { return WrongCube::apply(in); }), {x});
  EXPECT_FALSE(wrong.passed);
  EXPECT_THAT(wrong.message, HasSubstr("element 0 of input 0 is"));
  EXPECT_TRUE(check_gradients(by([](const auto& in) { return std::vector<Tensor>{layer_norm(in[0], {3}, in[1], in[2]), exp(in[0])}; }), {tensor({{0.1, 0.7, -0.4}, {1.5, 0.2, 0.3}}), tensor({1.0, 2.0, 0.5}), tensor({0.1, 0.2, 0.3})}).passed);
}

TEST(Autograd, AnomalyModeNamesTheForwardLine) {
  auto x = leaf({0.0});
  const AnomalyGuard on;
  const int line = __LINE__ + 1;
  const auto y = log(x);
  const auto message = error_of([&] { (y * 0).sum().backward(); });   // 0 times the slope 1 / 0
  EXPECT_THAT(message, HasSubstr("api_autograd.cpp:" + std::to_string(line) + ": the derivative of log gave NaN"));
}

// Values that other libraries are known to give as NaN, or otherwise.
TEST(Autograd, KinksAndBranchesNotTaken) {
  auto x = leaf({0.0, 4.0});
  where(x > 0, sqrt(x), x * 0).sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(0, 0.25)) << "the side not taken has no effect";
  auto n = leaf({0.0, 0.0});
  n.norm().backward();
  EXPECT_THAT(floats(n.grad()), ElementsAre(0, 0));
  auto m = leaf({1.0, 3.0, 3.0});
  m.max().backward();
  EXPECT_EQ(floats(m.grad())[0], 0);
  EXPECT_EQ(floats(m.grad())[1] + floats(m.grad())[2], 1) << "ties share one derivative";
  auto p = leaf({2.0, 0.0, 3.0});
  cumprod(p, 0).sum().backward();
  EXPECT_THAT(floats(p.grad()), ElementsAre(1, 8, 0));
}

TEST(Autograd, LongTapesAreLetGoOfWithoutDeepRecursion) {
  auto x = leaf({1.0});
  auto y = x;
  for (int k = 0; k < 50000; ++k) y = y + 1;
  y.sum().backward();
  EXPECT_THAT(floats(x.grad()), ElementsAre(1));
}

TEST(Autograd, LeavesNothingBehind) {
  std::weak_ptr<eager::TensorImpl> watched;
  {
    auto x = leaf({1.0, 2.0});
    auto y = x * 1.0;
    auto v = y.view({2, 1});
    v.mul_(y.view({2, 1}) * 2);
    y.mul_(y.detach());
    (v * v).sum();
    watched = y.impl();
  }
  EXPECT_TRUE(watched.expired());
}

TEST(Transforms, Compose) {
  const auto f = [](const Tensor& x) { return (x * x * x).sum(); };
  const auto x = tensor({1.0, 2.0});
  EXPECT_THAT(floats(grad(f)(x)), ElementsAre(3, 12));
  const auto [y, g] = value_and_grad(f)(x);
  EXPECT_EQ(y.item<float>(), 9);
  EXPECT_FALSE(g.requires_grad());
  EXPECT_FALSE(y.requires_grad());
  const auto second = grad([&](const Tensor& v) { return grad(f)(v).sum(); });
  EXPECT_THAT(floats(second(x)), ElementsAre(6, 12));
  EXPECT_THAT(floats(grad([&](const Tensor& v) { return second(v).sum(); })(x)), ElementsAre(6, 6));
  EXPECT_THAT(floats(hessian(f)(x)), ElementsAre(6, 0, 0, 12));
  const auto [value, tangent] = jvp(f)(x, tensor({1.0, 0.5}));
  EXPECT_EQ(tangent.item<float>(), 9);
  EXPECT_EQ(value.item<float>(), 9);
  // forward over reverse, and reverse over forward
  EXPECT_THAT(floats(jvp(grad(f))(x, tensor({1.0, 1.0})).second), ElementsAre(6, 12));
  EXPECT_THAT(floats(grad([&](const Tensor& v) { return jvp(f)(v, tensor({1.0, 1.0})).second; })(x)), ElementsAre(6, 12));
  // forward twice
  const auto once = [&](const Tensor& v) { return jvp(f)(v, tensor({1.0, 1.0})).second; };
  EXPECT_EQ(jvp(once)(x, tensor({1.0, 0.0})).second.item<float>(), 6);
}

TEST(Transforms, VjpAndJacobian) {
  const auto f = [](const Tensor& x, const Tensor& y) { return x * y.sum(); };
  const auto [r, pull] = vjp(f)(tensor({1.0, 2.0}), tensor({3.0, 4.0}));
  EXPECT_THAT(floats(r), ElementsAre(7, 14));
  const auto g = pull({tensor({1.0, 1.0})});
  EXPECT_THAT(floats(g[0]), ElementsAre(7, 7));
  EXPECT_THAT(floats(g[1]), ElementsAre(3, 3));
  EXPECT_THAT(floats(jacobian([](const Tensor& x) { return x * x; })(tensor({2.0, 3.0}))), ElementsAre(4, 0, 0, 6));
}

TEST(Transforms, CheckpointGivesTheSameGradientsAndDraws) {
  const auto f = [](const Tensor& x) { return dropout(sin(x) * x, 0.5); };
  auto x = leaf({0.5, 1.0, 1.5, 2.0}), y = leaf({0.5, 1.0, 1.5, 2.0});
  manual_seed(3);
  f(x).sum().backward();
  manual_seed(3);
  checkpoint(f)(y).sum().backward();
  EXPECT_EQ(floats(x.grad()), floats(y.grad()));
}

}  // namespace

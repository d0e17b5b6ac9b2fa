// Eager tensors through the public header: right values are worked out by hand, or NumPy's documented ones.
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
std::vector<std::int64_t> integers(const Tensor& t) { return t.to_vector<std::int64_t>(); }

TEST(Tensor, IsMadeFromNestedBraces) {
  const auto a = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(a.dtype(), kInt64);
  EXPECT_THAT(a.sizes(), ElementsAre(2, 3));
  EXPECT_THAT(integers(a), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(tensor({1.5, 2.0}).dtype(), kFloat32);
  EXPECT_EQ(tensor({true, false}).dtype(), kBool);
  EXPECT_EQ(tensor(3).dim(), 0);
  EXPECT_EQ(tensor({1, 2}, kBFloat16).dtype(), kBFloat16);
  EXPECT_THAT(integers(tensor({9007199254740993})), ElementsAre(9007199254740993));
  EXPECT_THAT(error_of([] { tensor({{1, 2}, {3}}); }), HasSubstr("rows in the braces differ"));
}

TEST(Tensor, BroadcastsAndPromotes) {
  const auto a = tensor({{1, 2, 3}, {4, 5, 6}}), b = tensor({10, 20, 30});
  EXPECT_THAT(integers(a + b), ElementsAre(11, 22, 33, 14, 25, 36));
  EXPECT_EQ((a + 1.5).dtype(), kFloat32);
  EXPECT_EQ((a / b).dtype(), kFloat32);
  EXPECT_EQ((tensor({1.0}, kFloat16) * 2.5).dtype(), kFloat16);
  EXPECT_EQ((tensor({1.0}, kFloat16) + tensor({1.0}, kBFloat16)).dtype(), kFloat32);
  EXPECT_EQ((tensor({1}, kUInt8) + tensor({1}, kInt8)).dtype(), kInt16);
  EXPECT_EQ((tensor({1}, kUInt64) + tensor({1})).dtype(), kFloat64);
  EXPECT_EQ((tensor({1.0}) + tensor(1.0, kDouble)).dtype(), kFloat32) << "a tensor of rank 0 does not raise the dtype";
  EXPECT_EQ((tensor({1}) + tensor(1.0, kDouble)).dtype(), kFloat64) << "but it does raise the kind";
  EXPECT_THAT(floats(2 - tensor({1.0, 4.0})), ElementsAre(1, -2));
  EXPECT_THAT((tensor({1, 5}) < 3).to_vector<bool>(), ElementsAre(true, false));
}

TEST(Tensor, ErrorsNameTheCallersLineTheOperationTheOperandsAndTheMend) {
  const auto x = zeros({2, 3}), y = zeros({4, 5});
  const int line = __LINE__ + 1;
  const auto message = error_of([&] { matmul(x, y); });
  EXPECT_THAT(message, HasSubstr("api_tensor.cpp:" + std::to_string(line) + ": matmul(f32[2,3], f32[4,5])"));
  EXPECT_THAT(message, HasSubstr("transpose or reshape"));
  const auto sum_message = error_of([&] { x + y; });
  EXPECT_THAT(sum_message, HasSubstr("api_tensor.cpp:" + std::to_string(line + 3) + ": add(f32[2,3], f32[4,5])"));
  EXPECT_THAT(error_of([&] { x.sum({2}); }), HasSubstr("there is no axis 2 in rank 2"));
  EXPECT_THAT(error_of([&] { x.view({5}); }), HasSubstr("6 elements"));
  EXPECT_THAT(error_of([&] { x.item<float>(); }), HasSubstr("6 elements, not 1"));
  EXPECT_THAT(error_of([&] { Tensor().exp(); }), HasSubstr("undefined"));
  EXPECT_THAT(error_of([&] { x.data_ptr<double>(); }), HasSubstr("f32, not f64"));
  EXPECT_THAT(error_of([&] { x.index({5}); }), HasSubstr("outside of axis 0"));
  EXPECT_THAT(error_of([&] { x.index({tensor({0, 7})}); }), HasSubstr("index 7 is outside"));
}

TEST(Tensor, ViewsShareElements) {
  auto x = arange(12).view({3, 4});
  auto row = x[1], column = x.select(1, 2), turned = x.t();
  x.index_put_({1, 2}, 100);
  EXPECT_EQ(row[2].item<int>(), 100);
  EXPECT_EQ(column[1].item<int>(), 100);
  EXPECT_EQ(turned.index({2, 1}).item<int>(), 100);
  column.mul_(2);
  EXPECT_THAT(integers(x), ElementsAre(0, 1, 4, 3, 4, 5, 200, 7, 8, 9, 20, 11));
  EXPECT_THAT(integers(x.index({Slice(1, None), Slice(None, None, 3)})), ElementsAre(4, 7, 8, 11));
  EXPECT_THAT(x.index({None, Ellipsis, 0}).sizes(), ElementsAre(1, 3));
  EXPECT_TRUE(x.view({2, 6}).is_view());
  EXPECT_THAT(error_of([&] { x.t().view({12}); }), HasSubstr("use reshape"));
  EXPECT_THAT(integers(x.t().reshape({12})), ElementsAre(0, 4, 8, 1, 5, 9, 4, 200, 20, 3, 7, 11));
}

TEST(Tensor, OverlappingWritesAreRefused) {
  auto x = zeros({3, 1}).expand({3, 4});
  EXPECT_THAT(error_of([&] { x.add_(1); }), HasSubstr("clone it first"));
  auto y = tensor({1, 2, 3, 4, 5});
  y.slice(0, 1).copy_(y.slice(0, 0, 4));   // reads and writes overlap: as if read first
  EXPECT_THAT(integers(y), ElementsAre(1, 1, 2, 3, 4));
}

TEST(Tensor, IndexesByTensors) {
  const auto x = arange(12).view({3, 4});
  EXPECT_THAT(integers(x.index({tensor({2, 0, -1})})), ElementsAre(8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(integers(x.index({tensor({0, 1, 2}), tensor({1, 2, 3})})), ElementsAre(1, 6, 11));
  EXPECT_THAT(integers(x.index({x > 8})), ElementsAre(9, 10, 11));
  EXPECT_THAT(x.index({Slice(), tensor({{0, 1}, {2, 3}})}).sizes(), ElementsAre(3, 2, 2));
  auto y = zeros({3}, kLong);
  y.index_put_({tensor({0, 2, 0})}, tensor({5, 6, 7}));
  EXPECT_THAT(integers(y), ElementsAre(7, 0, 6)) << "of updates to one place the last stands";
}

TEST(Tensor, Reduces) {
  const auto x = tensor({{1.0, 5.0, 2.0}, {8.0, -1.0, 0.0}});
  EXPECT_EQ(x.sum().item<float>(), 15);
  EXPECT_THAT(floats(x.sum({1})), ElementsAre(8, 7));
  EXPECT_THAT(x.sum({0}, true).sizes(), ElementsAre(1, 3));
  EXPECT_THAT(floats(x.mean({-1})), ElementsAre(8 / 3.f, 7 / 3.f));
  EXPECT_THAT(integers(x.argmax(1)), ElementsAre(1, 0));
  EXPECT_EQ(tensor({true, true, false}).sum().item<int>(), 2);
  EXPECT_EQ(tensor({200, 100}, kUInt8).sum().item<int>(), 300);
  const auto [values, places] = topk(x, 2, 1);
  EXPECT_THAT(floats(values), ElementsAre(5, 2, 8, 0));
  EXPECT_THAT(integers(places), ElementsAre(1, 2, 0, 2));
  EXPECT_THAT(floats(x.cumsum(1)), ElementsAre(1, 6, 8, 8, 7, 7));
}

TEST(Tensor, MultipliesMatrices) {
  const auto x = tensor({{1.0, 2.0}, {3.0, 4.0}}), y = tensor({{0.0, 1.0}, {1.0, 0.0}});
  EXPECT_THAT(floats(matmul(x, y)), ElementsAre(2, 1, 4, 3));
  EXPECT_THAT(floats(einsum("ij,jk->ki", {x, y})), ElementsAre(2, 4, 1, 3));
  EXPECT_THAT(floats(einsum("ij,ij->", {x, x})), ElementsAre(30));
  EXPECT_THAT(floats(einsum("bij,bjk->bik", {x.unsqueeze(0), y.unsqueeze(0)})), ElementsAre(2, 1, 4, 3));
  EXPECT_THAT(floats(solve(x, tensor({5.0, 11.0}))), ElementsAre(1, 2));
  EXPECT_THAT(error_of([&] { einsum("ij,jk->il", {x, y}); }), HasSubstr("not understood"));
}

TEST(Tensor, DrawsTheSameNumbersFromTheSameSeed) {
  manual_seed(7);
  const auto a = randn({5}), b = randn({5});
  manual_seed(7);
  EXPECT_EQ(floats(randn({5})), floats(a));
  EXPECT_NE(floats(a), floats(b));
  Generator g(7);
  EXPECT_EQ(floats(randn({5}, {}, g)), floats(a));
  const auto u = rand({1000});
  EXPECT_GE(u.min().item<float>(), 0);
  EXPECT_LT(u.max().item<float>(), 1);
  EXPECT_NEAR(u.mean().item<float>(), 0.5, 0.05);
}

TEST(Tensor, WrapsMemoryWithoutACopy) {
  std::vector<float> memory{1, 2, 3, 4};
  bool released = false;
  {
    auto t = from_blob(memory.data(), {2, 2}, {}, [&](void*) { released = true; });
    t.mul_(10);
    EXPECT_EQ(t.data_ptr<float>(), memory.data());
    const auto v = t[1];
    t = {};
    EXPECT_FALSE(released);
    EXPECT_THAT(floats(v), ElementsAre(30, 40));
  }
  EXPECT_TRUE(released);
  EXPECT_THAT(memory, ElementsAre(10, 20, 30, 40));
}

TEST(Tensor, PrintsAsNumPyDoes) {
  EXPECT_EQ(tensor({{1.0, 2.5}, {-3.0, 4.0}}).str(), "[[ 1. 2.5]\n [-3.  4.]]\nf32[2,2]");
  EXPECT_EQ(tensor({1, 20}).str(), "[ 1 20]\ni64[2]");
  EXPECT_EQ(tensor(0.1).str(), "0.1\nf32[]");
  EXPECT_THAT(arange(2000).str(), HasSubstr("[   0    1    2 ... 1997 1998 1999]"));
}

TEST(Tensor, EagerSumsAreTheStrictContractsWhetherInterpretedOrCompiled) {
  manual_seed(1);
  const auto x = randn({100, 37});
  const auto first = floats(softmax(x, 1));
  for (int k = 0; k < 200; ++k) ASSERT_EQ(floats(softmax(x, 1)), first) << "run " << k;
}

}  // namespace

// Sorts of every shape of schedule (lines beside one another, lines alone, ends off the powers of two) against std::stable_sort.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "backends/runtime/executor.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"

namespace plumb::backends {
namespace {

struct Case {
  std::int64_t outer, size, inner;   ///< the tensor is [outer, size, inner], sorted along its middle
  const char* dtype;
  bool descending;
};

ir::Literal run(const Case& c, const char* op, const char* result, const ir::Literal& x) {
  const auto shape = "[" + std::to_string(c.outer) + "," + std::to_string(c.size) + "," + std::to_string(c.inner) + "]";
  const auto text = "func @main(%x: " + std::string(c.dtype) + shape + ") -> (" + result + shape + ") {\n  %r = " + op + "(%x) {axis=1, descending=" + (c.descending ? "true" : "false") + "} : " + result + shape + "\n  return %r\n}\n";
  const auto backend = make_cpu_backend({2, 0});
  lowering::Options options;
  options.target = backend->facts();
  return Session(lowering::lower(ir::parse(text, "sort.plumb"), options), backend).run(std::span(&x, 1))[0];
}

/// Few values, so that ties are many; among floats NaN, both zeros and infinities.
ir::Literal ties(const Case& c) {
  ir::Literal x({*dtype_from_name(c.dtype), {c.outer, c.size, c.inner}});
  std::mt19937 random(static_cast<unsigned>(c.outer * 131 + c.size * 7 + c.inner));
  const double special[] = {NAN, 0.0, -0.0, HUGE_VAL, -HUGE_VAL};
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const double plain = is_bool(x.dtype()) ? static_cast<double>(random() % 2) : static_cast<double>(random() % 97);
    store_element(x.dtype(), x.mutable_raw(), i, is_float(x.dtype()) && random() % 4 == 0 ? special[random() % 5] : is_float(x.dtype()) ? plain - 48 : plain);
  }
  return x;
}

class SortNetwork : public testing::TestWithParam<Case> {};

TEST_P(SortNetwork, IsTheStableOrder) {
  const auto c = GetParam();
  const auto x = ties(c);
  const auto order = run(c, "argsort", "i64", x), values = run(c, "sort", c.dtype, x);
  for (std::int64_t line = 0; line < c.outer * c.inner; ++line) {
    const auto at = [&](std::int64_t k) { return (line / c.inner * c.size + k) * c.inner + line % c.inner; };
    const auto value = [&](std::int64_t k) { return load_element(x.dtype(), x.raw(), at(k)); };
    std::vector<std::int64_t> want(static_cast<std::size_t>(c.size));
    std::iota(want.begin(), want.end(), 0);
    std::stable_sort(want.begin(), want.end(), [&](auto i, auto j) {
      const double a = value(c.descending ? j : i), b = value(c.descending ? i : j);
      return std::isnan(b) ? !std::isnan(a) : a < b;
    });
    for (std::int64_t k = 0; k < c.size; ++k) {
      ASSERT_EQ(order.int_at(at(k)), want[static_cast<std::size_t>(k)]) << "line " << line << ", place " << k;
      const double got = load_element(x.dtype(), values.raw(), at(k)), right = value(want[static_cast<std::size_t>(k)]);
      ASSERT_TRUE(std::isnan(right) ? std::isnan(got) : got == right && std::signbit(got) == std::signbit(right)) << "line " << line << ", place " << k << ": " << got << ", not " << right;
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::int64_t n : {0, 1, 2, 3, 16, 17, 100}) {
    all.push_back({1, n, 1, "f32", n % 2 == 0});
    all.push_back({5, n, 7, "f32", n % 2 == 1});
  }
  all.push_back({2, 33, 40, "i16", false});
  all.push_back({3, 257, 1, "bf16", true});
  all.push_back({1, 1000, 1, "f32", true});
  all.push_back({1, 40000, 1, "f32", false});
  all.push_back({2, 17000, 1, "u8", true});
  all.push_back({1, 65536, 1, "i32", false});
  all.push_back({33, 129, 1, "f8e4m3fn", true});
  all.push_back({1, 100, 3, "bool", false});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Shapes, SortNetwork, testing::ValuesIn(cases()), [](const auto& made) {
  const auto& c = made.param;
  return std::to_string(c.outer) + "x" + std::to_string(c.size) + "x" + std::to_string(c.inner) + "_" + c.dtype + (c.descending ? "_descending" : "");
});

}  // namespace
}  // namespace plumb::backends

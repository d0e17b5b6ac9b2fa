// Under strict every elementary function on cpu has the reference's bits: correctly rounded, in every float dtype.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/runtime/executor.h"
#include "interpreter/domains/number.h"
#include "interpreter/tensor/evaluate.h"
#include "ir/scalar/functions.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/functions.h"

namespace plumb {
namespace {

constexpr DType floats[] = {DType::f8e4m3fn, DType::f8e5m2, DType::bf16, DType::f16, DType::f32, DType::f64};

/// Bit patterns of a dtype: all of them where they are few, else a stride through all, so that every binade and sign is met.
ir::Literal patterns(DType t, std::int64_t count, std::uint64_t salt) {
  ir::Literal l({t, {count}});
  const int bits = byte_size(t) * 8;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t x = static_cast<std::uint64_t>(i);
    if (bits > 8) {  // splitmix64
      x = (x + salt) * 0x9e3779b97f4a7c15U;
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
      x ^= x >> 31;
    }
    std::memcpy(static_cast<char*>(l.mutable_raw()) + i * byte_size(t), &x, static_cast<std::size_t>(byte_size(t)));
  }
  return l;
}
/// Numbers around 1, where functions are neither their argument nor a limit.
ir::Literal moderate(DType t, std::int64_t count, std::uint64_t salt) {
  ir::Literal l = patterns(DType::i32, count, salt), r({t, {count}});
  for (std::int64_t i = 0; i < count; ++i) interp::store(t, r.mutable_raw(), i, interp::number(t, static_cast<double>(l.int_at(i)) * 0x1p-28));
  return r;
}

void expect_reference_bits(FnId fn, DType t, const std::vector<ir::Literal>& in) {
  const auto& row = plumb::row(fn);
  const auto type = in[0].type().str();
  const std::string parameters = row.arity == 1 ? "%x: " + type : "%x: " + type + ", %y: " + type, arguments = row.arity == 1 ? "%x" : "%x, %y";
  const auto m = ir::parse("func @f(" + parameters + ") -> (" + type + ") { %0 = " + std::string(row.name) + "(" + arguments + ") : " + type + " return %0 }");
  static const auto cpu = backends::make_cpu_backend({1, 0});
  lowering::Options o;
  o.contract = Contract::strict;
  o.target = cpu->facts();
  const auto got = backends::Session(lowering::lower(m, o), cpu).run(in)[0], wanted = interp::evaluate(m, in)[0];
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const auto a = interp::load(t, got.raw(), i), b = interp::load(t, wanted.raw(), i);
    if (std::isnan(a.f) && std::isnan(b.f)) continue;
    ASSERT_EQ(a.u, b.u) << row.name << " of " << name(t) << " at " << interp::load(t, in[0].raw(), i).f << (row.arity > 1 ? ", " + std::to_string(interp::load(t, in[1].raw(), i).f) : "") << ": got " << a.f << ", correctly rounded " << b.f;
  }
}

class StrictFunctions : public testing::TestWithParam<FnId> {};

TEST_P(StrictFunctions, AreCorrectlyRounded) {
  const FnId fn = GetParam();
  for (DType t : floats) {
    const std::int64_t count = byte_size(t) == 1 ? 256 : t == DType::f64 ? 500 : 4000;
    std::vector<ir::Literal> any{patterns(t, count, 1)}, near{moderate(t, count, 2)};
    if (plumb::row(fn).arity == 2) any.push_back(patterns(t, count, 3)), near.push_back(moderate(t, count, 4));
    expect_reference_bits(fn, t, any);
    expect_reference_bits(fn, t, near);
  }
}

INSTANTIATE_TEST_SUITE_P(All, StrictFunctions, testing::ValuesIn(verify::elementary_functions()), [](const auto& i) { return std::string(plumb::row(i.param).name); });

/// Ties and exact values, which no approximation decides: squares of 13-bit numbers end in the middle of two f32.
TEST(StrictFunctions, DecideTies) {
  std::vector<ir::Literal> in{ir::Literal({DType::f32, {2048}}), ir::Literal({DType::f32, {2048}})};
  for (std::int64_t i = 0; i < 2048; ++i) {
    interp::store(DType::f32, in[0].mutable_raw(), i, {.f = static_cast<double>(4097 + 2 * i)});
    interp::store(DType::f32, in[1].mutable_raw(), i, {.f = 2});
  }
  expect_reference_bits(fn_id<scalar::Pow>, DType::f32, in);
}

}  // namespace
}  // namespace plumb

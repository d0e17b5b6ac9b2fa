// The exact number systems: what each function of words is, by hand and by independent loops; that kernels exchanged for
// words compute it on the cpu; and what each system sees.
#include "ir/tensor/text.h"
#include "tests/unit/verify_oracle_support.h"
#include "verify/number_systems.h"
#include "verify/retype.h"

namespace plumb {
namespace {

using namespace test;
using verify::Check;
using verify::Exchanged;
using verify::System;

constexpr std::uint64_t p = 2147483647;  // 2^31 - 1

std::uint64_t of(System s, FnId fn, std::vector<std::uint64_t> args) {
  std::vector<interp::Number> a;
  for (auto x : args) a.push_back({.u = x});
  return Exchanged{s}.apply(fn, DType::f32, a).u;
}

TEST(NumberSystems, arithmetic_modulo_the_prime) {
  using namespace scalar;
  const auto prime = [](FnId fn, std::vector<std::uint64_t> args) { return of(System::prime, fn, std::move(args)); };
  EXPECT_EQ(prime(fn_id<Add>, {p - 1, 1}), 0u);
  EXPECT_EQ(prime(fn_id<Add>, {2000000000, 2000000000}), 1852516353u);
  EXPECT_EQ(prime(fn_id<Sub>, {3, 5}), p - 2);
  EXPECT_EQ(prime(fn_id<Sub>, {5, 5}), 0u);
  EXPECT_EQ(prime(fn_id<Sub>, {5, 0}), 5u);
  EXPECT_EQ(prime(fn_id<Neg>, {0}), 0u);
  EXPECT_EQ(prime(fn_id<Neg>, {1}), p - 1);
  EXPECT_EQ(prime(fn_id<Mul>, {65536, 65536}), 2u);      // 2^32 = 2 (2^31)
  EXPECT_EQ(prime(fn_id<Mul>, {p - 1, p - 1}), 1u);      // (-1)(-1)
  EXPECT_EQ(prime(fn_id<Fma>, {p - 1, p - 1, p - 1}), 0u);
  EXPECT_EQ(prime(fn_id<Minimum>, {7, p - 1}), 7u);
  EXPECT_EQ(prime(fn_id<Maximum>, {7, p - 1}), p - 1);
  EXPECT_EQ(prime(fn_id<Lt>, {7, p - 1}), 1u);
}

/// 2^62 = 1 modulo p, so 2^64 = 4.
TEST(NumberSystems, constants_and_integers_modulo_the_prime) {
  const auto constant = [](double v) { return verify::exchanged_constant(System::prime, v); };
  EXPECT_EQ(constant(0), 0u);
  EXPECT_EQ(constant(-0.0), 0u);
  EXPECT_EQ(constant(-1), p - 1);
  EXPECT_EQ(constant(2147483647), 0u);
  EXPECT_EQ(constant(-2147483648.0), p - 1);
  EXPECT_EQ(constant(0x1p52), 0x1p21);
  EXPECT_EQ(constant(-HUGE_VAL), 0u);
  EXPECT_EQ(constant(HUGE_VAL), p - 1);
  EXPECT_LT(constant(0.1), p);
  EXPECT_NE(constant(0.1), constant(0.3));
  const Exchanged d{System::prime};
  EXPECT_EQ(d.convert({.i = -1}, DType::i8, DType::f32).u, p - 1);
  EXPECT_EQ(d.convert({.i = INT64_MIN}, DType::i64, DType::f32).u, p - 2);
  EXPECT_EQ(d.convert({.u = UINT64_MAX}, DType::u64, DType::f32).u, 3u);
  EXPECT_EQ(d.convert({.u = 1}, DType::boolean, DType::f32).u, 1u);
  for (auto fn : {fn_id<scalar::Add>, fn_id<scalar::Mul>, fn_id<scalar::Minimum>, fn_id<scalar::Maximum>}) {  // identities
    const std::uint64_t identity = d.reduce(fn, DType::f32, {}, 0).u;
    for (std::uint64_t x : {std::uint64_t{0}, std::uint64_t{12345}, p - 1}) EXPECT_EQ(of(System::prime, fn, {identity, x}), x) << row(fn).name;
  }
}

TEST(NumberSystems, every_function_of_residues_gives_a_residue) {
  for (std::size_t fn = 0; fn < AllFns::rows.size(); ++fn) {
    if (!takes(static_cast<FnId>(fn), DType::f32)) continue;
    for (std::uint64_t k = 0; k < 100; ++k) EXPECT_LT(of(System::prime, static_cast<FnId>(fn), {word(k) % p, word(k + 100) % p, p - 1}), p) << AllFns::rows[fn].name;
  }
}

/// One kernel with its floats exchanged for residues, run on the cpu on random residues; integers as `uniform` draws them.
struct Ran { std::vector<ir::Literal> inputs; ir::Literal result; };
Ran on_residues(const char* text) {
  const auto m = ir::parse(text);
  const auto program = lowered(m);
  if (program->kernels.size() != 1) throw std::runtime_error("not one kernel");
  const auto& k = *program->kernels[0];
  const auto exchanged = verify::retype(k, System::prime);
  if (!exchanged.kernel) throw std::runtime_error(exchanged.why_not);
  Ran r;
  std::vector<void*> memory;
  for (auto v : k.spec->params) {
    const auto& t = k.spec->type(v);
    r.inputs.push_back(is_float(t.dtype) ? ir::Literal(ir::Type{DType::u64, t.shape}) : uniform(t, 7));
    if (is_float(t.dtype))
      for (std::int64_t i = 0; i < r.inputs.back().elements(); ++i) r.inputs.back().mutable_data<std::uint64_t>()[i] = word(r.inputs.size() * 1000 + static_cast<std::uint64_t>(i)) % p;
  }
  for (auto& l : r.inputs) memory.push_back(l.mutable_raw());
  const auto& out = k.spec->type(k.spec->results[0]);
  r.result = ir::Literal(ir::Type{verify::exchanged(out.dtype), out.shape});
  memory.push_back(r.result.mutable_raw());
  const kir::Kernel* kernels[] = {&*exchanged.kernel};
  cpu()->compile(kernels)->launch(0, memory);
  return r;
}

TEST(NumberSystems, a_compiled_dot_of_residues) {
  const auto r = on_residues("func @main(%x: f32[5,300], %w: f32[300,4]) -> (f32[5,4]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[5,4]\n  return %0\n}");
  const auto *x = r.inputs[0].data<std::uint64_t>(), *w = r.inputs[1].data<std::uint64_t>();
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t j = 0; j < 4; ++j) {
      std::uint64_t sum = 0;
      for (std::int64_t k = 0; k < 300; ++k) sum = (sum + x[i * 300 + k] * w[k * 4 + j] % p) % p;
      EXPECT_EQ(r.result.data<std::uint64_t>()[i * 4 + j], sum) << i << ", " << j;
    }
}

TEST(NumberSystems, compiled_arithmetic_and_integers) {
  const auto r = on_residues(R"(func @main(%x: f32[37], %y: f32[37], %i: i32[37]) -> (f32[37]) {
  %c = constant() {value=-3} : i32[]
  %b = broadcast(%c) {shape=[37], dims=[]} : i32[37]
  %j = add(%i, %b) : i32[37]
  %f = convert(%j) {dtype=f32} : f32[37]
  %s = sub(%x, %y) : f32[37]
  %t = mul(%s, %f) : f32[37]
  %n = neg(%t) : f32[37]
  return %n
})");
  for (std::int64_t k = 0; k < 37; ++k) {
    const auto x = static_cast<std::int64_t>(r.inputs[0].data<std::uint64_t>()[k]), y = static_cast<std::int64_t>(r.inputs[1].data<std::uint64_t>()[k]);
    const std::int64_t modulus = p, v = -(x - y) * (r.inputs[2].data<std::int32_t>()[k] - 3);
    EXPECT_EQ(r.result.data<std::uint64_t>()[k], static_cast<std::uint64_t>((v % modulus + modulus) % modulus)) << k;
  }
}

TEST(NumberSystems, a_compiled_scan_and_a_compiled_product) {
  const auto sums = on_residues("func @main(%x: f32[3,50]) -> (f32[3,50]) {\n  %0 = cumsum(%x) {axis=1} : f32[3,50]\n  return %0\n}");
  const auto products = on_residues("func @main(%x: f32[3,200]) -> (f32[3]) {\n  %0 = reduce_prod(%x) {axes=[1]} : f32[3]\n  return %0\n}");
  for (std::int64_t i = 0; i < 3; ++i) {
    std::uint64_t sum = 0, product = 1;
    for (std::int64_t k = 0; k < 50; ++k) {
      sum = (sum + sums.inputs[0].data<std::uint64_t>()[i * 50 + k]) % p;
      EXPECT_EQ(sums.result.data<std::uint64_t>()[i * 50 + k], sum);
    }
    for (std::int64_t k = 0; k < 200; ++k) product = product * products.inputs[0].data<std::uint64_t>()[i * 200 + k] % p;
    EXPECT_EQ(products.result.data<std::uint64_t>()[i], product);
  }
}

TEST(NumberSystems, right_kernels_pass) {
  const char* programs[] = {
      "func @main(%x: f32[6,130]) -> (f32[6,130]) {\n  %0 = softmax(%x) {axis=1} : f32[6,130]\n  return %0\n}",
      "func @main(%x: f32[6,130]) -> (f32[6,130]) {\n  %0 = log_softmax(%x) {axis=1} : f32[6,130]\n  return %0\n}",
      "func @main(%x: f16[4,40], %g: f16[40], %b: f16[40]) -> (f16[4,40]) {\n  %0 = layer_norm(%x, %g, %b) {axis=1, epsilon=1e-5} : f16[4,40]\n  return %0\n}",
      "func @main(%x: bf16[3,1000]) -> (bf16[3]) {\n  %0 = reduce_min(%x) {axes=[1]} : bf16[3]\n  return %0\n}",
      "func @main(%x: f32[3,1000]) -> (f32[3]) {\n  %0 = reduce_prod(%x) {axes=[1]} : f32[3]\n  return %0\n}",
      "func @main(%x: bf16[600]) -> (bf16[600]) {\n  %0 = iota() {axis=0} : bf16[600]\n  %1 = mul(%x, %0) : bf16[600]\n  return %1\n}",
      "func @main(%x: f32[0,4]) -> (f32[4]) {\n  %0 = reduce_min(%x) {axes=[0]} : f32[4]\n  return %0\n}",
  };
  for (const char* text : programs) {
    const auto m = ir::parse(text);
    const auto r = checked(m, uniform_inputs(m), quiet(Check::full));
    for (const auto& f : r.failures) ADD_FAILURE() << f.check << " " << f.kernel << " " << f.index << ": got " << f.got << ", allowed " << f.allowed << "\n" << text;
    for (const auto& n : r.notes) ADD_FAILURE() << n << "\n" << text;
  }
}

/// A kernel may have floats without a float among its inputs.
TEST(NumberSystems, floats_made_of_integers_take_part) {
  const auto m = ir::parse("func @main(%x: i32[3,300]) -> (f32[3]) {\n  %0 = convert(%x) {dtype=f32} : f32[3,300]\n  %1 = reduce_sum(%0) {axes=[1]} : f32[3]\n  return %1\n}");
  const auto right = checked(m, uniform_inputs(m), quiet(Check::full));
  EXPECT_TRUE(right.passed());
  EXPECT_EQ(right.exact_kernels, right.kernels);
  EXPECT_TRUE(failed_by(checked(m, uniform_inputs(m), quiet(Check::full), lowering::Fault::dropped_term), "integers modulo a prime"));
  const auto integers = ir::parse("func @main(%x: i32[3]) -> (i32[3]) {\n  %0 = neg(%x) : i32[3]\n  return %0\n}");
  EXPECT_EQ(checked(integers, uniform_inputs(integers), quiet(Check::full)).exact_kernels, 0);
}

/// Half of all words are even: a product of 300 of them is 0 modulo 2^64, with a factor left out or not.
TEST(NumberSystems, a_dropped_factor_is_the_primes_to_find) {
  const auto m = ir::parse("func @main(%x: f32[3,300]) -> (f32[3]) {\n  %0 = reduce_prod(%x) {axes=[1]} : f32[3]\n  return %0\n}");
  const auto r = checked(m, uniform_inputs(m), quiet(Check::full), lowering::Fault::dropped_term);
  EXPECT_TRUE(failed_by(r, "integers modulo a prime"));
  EXPECT_FALSE(failed_by(r, "integers modulo 2^64"));
}

TEST(NumberSystems, faults_of_structure_differ_modulo_the_prime) {
  struct Broken { lowering::Fault fault; const char* text; };
  const Broken list[] = {
      {lowering::Fault::tail_mask, "func @main(%x: f32[1003], %y: f32[1003]) -> (f32[1003]) {\n  %0 = mul(%x, %y) : f32[1003]\n  return %0\n}"},
      {lowering::Fault::dropped_term, "func @main(%x: f32[3,32768]) -> (f32[3]) {\n  %0 = reduce_sum(%x) {axes=[1]} : f32[3]\n  return %0\n}"},
      {lowering::Fault::dropped_term, "func @main(%x: f32[2,300], %w: f32[300,3]) -> (f32[2,3]) {\n  %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[2,3]\n  return %0\n}"},
      {lowering::Fault::dropped_term, "func @main(%x: f32[1,8,13,13], %w: f32[8,8,3,3]) -> (f32[1,8,13,13]) {\n  %0 = convolution(%x, %w) {low=[1,1], high=[1,1]} : f32[1,8,13,13]\n  return %0\n}"},
      {lowering::Fault::swapped_axes, "func @main(%x: f32[1,8,13,13], %w: f32[8,8,3,3]) -> (f32[1,8,13,13]) {\n  %0 = convolution(%x, %w) {low=[1,1], high=[1,1]} : f32[1,8,13,13]\n  return %0\n}"},
  };
  for (const auto& [fault, text] : list) {
    const auto m = ir::parse(text);
    EXPECT_TRUE(failed_by(checked(m, uniform_inputs(m), quiet(Check::full), fault), "integers modulo a prime")) << static_cast<int>(fault) << "\n" << text;
    EXPECT_FALSE(failed_by(checked(m, uniform_inputs(m), quiet(Check::full)), "integers modulo a prime")) << text;
  }
}

}  // namespace
}  // namespace plumb

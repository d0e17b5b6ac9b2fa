// Every scalar function at every dtype, and every conversion, on the cpu backend against the reference's.
#include <cmath>

#include "backends_support.h"
#include "interpreter/domains/number.h"

namespace plumb::backends {
namespace {

std::uint64_t bits_of(const char* base, std::size_t i, DType t) {
  std::uint64_t b = 0;
  std::memcpy(&b, base + i * static_cast<std::size_t>(byte_size(t)), static_cast<std::size_t>(byte_size(t)));
  return b;
}

/// All patterns of an 8-bit dtype; edges and random ones of the others, with small values among them.
std::vector<std::uint64_t> patterns(DType t, std::uint64_t seed) {
  if (is_bool(t)) return {0, 1};
  const int width = byte_size(t) * 8;
  std::vector<std::uint64_t> v;
  if (width == 8) {
    for (std::uint64_t b = 0; b < 256; ++b) v.push_back(b);
    return v;
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  auto add = [&](std::uint64_t b) { v.push_back(b & mask); };
  for (std::uint64_t b : {0ull, 1ull, 2ull, 3ull, 7ull, ~0ull, ~1ull, ~2ull, 1ull << (width - 1), (1ull << (width - 1)) - 1, (1ull << (width - 1)) + 1}) add(b);
  if (is_float(t))
    for (double d : {0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.1, 7.0, 100.0, HUGE_VAL, std::nan(""), 1e-5, 65504.0, 3e38, 1e-40, 9007199254740993.0})
      for (double s : {d, -d}) add(encode_float(t, s));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 90; ++i) {
    add(random());
    if (is_float(t)) add(encode_float(t, std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())), static_cast<int>(random() % 24) - 76)));
    else add(static_cast<std::uint64_t>(static_cast<std::int64_t>(random() % 41) - 20));
  }
  return v;
}

std::string show(DType t, std::uint64_t bits) {
  if (is_float(t)) return std::to_string(decode_float(t, bits)) + " (" + std::to_string(bits) + ")";
  return std::to_string(bits);
}

/// Equal, or within the function's bound where it has one.
bool acceptable(FnId fn, DType t, interp::Number got, interp::Number want) {
  if (interp::same(t, got, want)) return true;
  if (!is_float(t) || row(fn).ulp <= 0.5 || std::isnan(got.f) || std::isnan(want.f)) return false;
  const auto& facts = row(t);
  int exponent = 0;
  std::frexp(want.f, &exponent);
  const double place = std::ldexp(1.0, std::max(exponent - 1, facts.emin) - facts.precision + 1);
  return std::signbit(got.f) == std::signbit(want.f) && std::abs(got.f - want.f) <= 2 * place;
}

/// What memory holds of a result: f8e4m3fn has no infinity.
interp::Number stored(DType t, interp::Number v) {
  std::uint64_t bits = 0;
  interp::store(t, &bits, 0, v);
  return interp::load(t, &bits, 0);
}

void check(FnId fn, DType t) {
  const int arity = row(fn).arity;
  std::vector<std::vector<std::uint64_t>> args(3);
  const auto p = patterns(t, 1);
  if (arity == 1) args[0] = p;
  else
    for (auto a : p)
      for (auto b : p) args[0].push_back(a), args[1].push_back(b), args[2].push_back(p[(a * 31 + b * 17) % p.size()]);
  const auto n = args[0].size();
  const auto bytes = static_cast<std::size_t>(byte_size(t));
  const DType result = result_dtype(fn, t);
  std::vector<Memory> memory;
  for (int k = 0; k < arity; ++k) {
    memory.emplace_back(n * bytes);
    for (std::size_t i = 0; i < n; ++i) std::memcpy(memory.back().data() + i * bytes, &args[static_cast<std::size_t>(k)][i], bytes);
  }
  memory.emplace_back(n * static_cast<std::size_t>(byte_size(result)));
  std::vector<Memory*> pointers;
  for (auto& m : memory) pointers.push_back(&m);
  for (int width : {16, 1}) {
    run(map_kernel(std::vector<DType>(static_cast<std::size_t>(arity), t), result, static_cast<std::int64_t>(n), width, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.apply(fn, a); }),
        pointers);
    int shown = 0;
    for (std::size_t i = 0; i < n && shown < 3; ++i) {
      std::vector<interp::Number> x;
      std::string text;
      for (int k = 0; k < arity; ++k) {
        x.push_back(interp::load(t, memory[static_cast<std::size_t>(k)].data(), static_cast<std::int64_t>(i)));
        text += (k ? ", " : "") + show(t, args[static_cast<std::size_t>(k)][i]);
      }
      const auto got = interp::load(result, memory.back().data(), static_cast<std::int64_t>(i)), want = stored(result, interp::apply(fn, t, x));
      if (acceptable(fn, result, got, want)) continue;
      ++shown;
      Memory expected(8);
      interp::store(result, expected.data(), 0, want);
      ADD_FAILURE() << row(fn).name << " of " << name(t) << " at width " << width << ": (" << text << ") gave " << show(result, bits_of(memory.back().data(), i, result)) << ", not "
                    << show(result, bits_of(expected.data(), 0, result));
    }
  }
}

class BackendFunctions : public testing::TestWithParam<DType> {};

TEST_P(BackendFunctions, EveryFunction) {
  for (std::size_t fn = 0; fn < AllFns::rows.size(); ++fn)
    if (takes(static_cast<FnId>(fn), GetParam())) check(static_cast<FnId>(fn), GetParam());
}

TEST_P(BackendFunctions, EveryConversion) {
  const DType from = GetParam();
  std::vector<std::uint64_t> p = patterns(from, 2);
  if (byte_size(from) == 2) {
    p.clear();
    for (std::uint64_t b = 0; b < 65536; ++b) p.push_back(b);
  }
  const auto bytes = static_cast<std::size_t>(byte_size(from));
  if (byte_size(from) >= 4 && is_float(from)) {  // halfway cases of the narrower formats, and their neighbours
    std::mt19937_64 random(3);
    for (DType t : {DType::bf16, DType::f16, DType::f8e4m3fn, DType::f8e5m2, DType::f32})
      for (int i = 0; i < 400; ++i) {
        const auto mask = ~std::uint64_t{0} >> (64 - byte_size(t) * 8);
        const double low = decode_float(t, random() & mask & ~1ull), high = decode_float(t, (encode_float(t, low) + 1) & mask);
        if (!std::isfinite(low) || !std::isfinite(high)) continue;
        const double middle = low / 2 + high / 2;
        for (double d : {middle, std::nextafter(middle, HUGE_VAL), std::nextafter(middle, -HUGE_VAL)}) p.push_back(encode_float(from, d));
      }
  }
  Memory in(p.size() * bytes);
  for (std::size_t i = 0; i < p.size(); ++i) std::memcpy(in.data() + i * bytes, &p[i], bytes);
  for (const auto& r : dtype_rows) {
    const DType to = r.dtype;
    if (to == from || is_complex(to)) continue;  // kernels compute on the parts of complex numbers
    Memory out(p.size() * static_cast<std::size_t>(r.bytes));
    for (int width : {16, 1}) {
      run(map_kernel({from}, to, static_cast<std::int64_t>(p.size()), width, [&](KernelBuilder& b, const std::vector<ScalarId>& a) { return b.convert(a[0], to); }), {&in, &out});
      int shown = 0;
      for (std::size_t i = 0; i < p.size() && shown < 3; ++i) {
        const auto got = interp::load(to, out.data(), static_cast<std::int64_t>(i)), want = interp::convert(interp::load(from, in.data(), static_cast<std::int64_t>(i)), from, to);
        if (interp::same(to, got, want)) continue;
        ++shown;
        Memory expected(8);
        interp::store(to, expected.data(), 0, want);
        ADD_FAILURE() << name(from) << " to " << name(to) << " at width " << width << ": " << show(from, p[i]) << " gave " << show(to, bits_of(out.data(), i, to)) << ", not "
                      << show(to, bits_of(expected.data(), 0, to));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BackendFunctions, testing::ValuesIn([] {
                           std::vector<DType> all;
                           for (const auto& r : dtype_rows)
                             if (!is_complex(r.dtype)) all.push_back(r.dtype);
                           return all;
                         }()),
                         [](const auto& i) { return std::string(name(i.param)); });

}  // namespace
}  // namespace plumb::backends

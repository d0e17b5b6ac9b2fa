#include "interpreter/functions/f32_reference.h"

#include <bit>
#include <cmath>

#include "interpreter/domains/number.h"
#include "interpreter/functions/circle.h"
#include "interpreter/functions/function_facts.h"
#include "interpreter/functions/piece.h"
#include "interpreter/functions/taylor.h"

namespace plumb::interp {
namespace {

constexpr std::uint32_t sign_bit = 0x80000000, infinity_bits = 0x7f800000;
constexpr std::int64_t smallest_polynomial = 8;   ///< arguments for which a polynomial is not worth its making
constexpr double reduced_from = 64;

float argument(std::uint32_t bits) { return std::bit_cast<float>(bits); }
bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

/// Fills answers for the patterns from `first_` on; `at` counts from it.
class Filler {
 public:
  Filler(FnId fn, std::uint32_t first, std::span<float> rounded, std::span<double> value) : fn_(fn), facts_(function_facts(fn)), first_(first), rounded_(rounded), value_(value) {}
  ReferenceCounts counts;

  void fill(std::int64_t at, std::int64_t n) {
    const auto first = bits(at), last = bits(at + n - 1);
    if (((first ^ last) & sign_bit) != 0) return split(at, sign_bit - first, n);
    const std::uint32_t low = first & ~sign_bit, high = last & ~sign_bit;
    if (low > infinity_bits) return undefined(at, n);
    if (high > infinity_bits) return split(at, infinity_bits + 1 - low, n);
    if (n == 1) return exact(at, n);
    if (low == 0) return split(at, 1, n);
    if (high == infinity_bits) return split(at, n - 1, n);
    const double x0 = argument(first), x1 = argument(last);
    const bool out0 = outside(x0), out1 = outside(x1);
    if (out0 && out1) return undefined(at, n);   // one half-line: the piece has one sign
    if (out0 || out1) return split(at, n / 2, n);
    if (constant(at, n, x0, x1) || reduced(at, n, first) || polynomial(at, n, x0, x1)) return;
    n < smallest_polynomial ? exact(at, n) : split(at, n / 2, n);
  }

 private:
  std::uint32_t bits(std::int64_t at) const { return first_ + static_cast<std::uint32_t>(at); }
  bool outside(double x) const { return x < facts_.low || x > facts_.high; }
  void split(std::int64_t at, std::int64_t n, std::int64_t whole) { fill(at, n), fill(at + n, whole - n); }

  void undefined(std::int64_t at, std::int64_t n) {
    counts.undefined += n;
    for (std::int64_t i = at; i < at + n; ++i) put(i, std::nanf(""), std::nan(""));
  }
  void exact(std::int64_t at, std::int64_t n) {
    counts.exact += n;
    for (std::int64_t i = at; i < at + n; ++i) put(i, rounded(argument(bits(i))), value(argument(bits(i))));
  }
  bool constant(std::int64_t at, std::int64_t n, double x0, double x1) {
    if (std::fabs(x0) > facts_.monotone_to || std::fabs(x1) > facts_.monotone_to) return false;
    const float a = rounded(x0), b = rounded(x1);
    if (!same_bits(a, b)) return false;
    counts.constant += n;
    for (std::int64_t i = at; i < at + n; ++i) put(i, a, std::nan(""));
    value_[static_cast<std::size_t>(at)] = value(x0), value_[static_cast<std::size_t>(at + n - 1)] = value(x1);
    return true;
  }
  bool reduced(std::int64_t at, std::int64_t n, std::uint32_t first) {
    using namespace scalar;
    const std::uint32_t low = first & ~sign_bit, binade = low >> 23, significand = low & 0x7fffff;
    if ((fn_ != fn_id<Sin> && fn_ != fn_id<Cos> && fn_ != fn_id<Tan>) || argument(low) < reduced_from) return false;
    if (significand + n > 1 << 23) return split(at, (1 << 23) - significand, n), true;
    const Circle circle(fn_, static_cast<int>(binade) - 127 - 23);
    const bool flips = (first & sign_bit) && facts_.parity == FunctionFacts::Parity::odd;
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = circle(0x800000 + significand + static_cast<std::uint32_t>(i)), signed_v = flips ? -v : v;
      const auto a = static_cast<float>(signed_v * (1 - 0x1p-47)), b = static_cast<float>(signed_v * (1 + 0x1p-47));
      if (same_bits(a, b)) put(at + i, a, signed_v), ++counts.reduced;
      else exact(at + i, 1);   // NaN, too
    }
    return true;
  }
  bool polynomial(std::int64_t at, std::int64_t n, double x0, double x1) {
    if (n < smallest_polynomial) return false;
    const bool mirrored = x0 < 0 && facts_.parity != FunctionFacts::Parity::none;
    Piece p;
    if (!make_piece(fn_, mirrored ? -x0 : x0, mirrored ? -x1 : x1, p)) return false;
    if (mirrored) mirror(p, facts_.parity == FunctionFacts::Parity::odd);
    const auto to = rounded_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n));
    const std::int64_t undecided = evaluate(p, bits(at), to, value_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n)));
    counts.polynomial += n - undecided;
    for (std::int64_t i = 0, left = undecided; left > 0; ++i)
      if (std::isnan(to[static_cast<std::size_t>(i)])) exact(at + i, 1), --left;
    return true;
  }

  void put(std::int64_t i, float r, double v) { rounded_[static_cast<std::size_t>(i)] = r, value_[static_cast<std::size_t>(i)] = v; }
  /// Both are correctly rounded, by MPFR, at |x| where the function is odd or even.
  float rounded(double x) const { return static_cast<float>(by_parity(DType::f32, x)); }
  double value(double x) const { return by_parity(DType::f64, x); }
  double by_parity(DType t, double x) const {
    if (facts_.parity == FunctionFacts::Parity::none) return exact_elementary(fn_, t, x, 0);
    const double v = exact_elementary(fn_, t, std::fabs(x), 0);
    return std::signbit(x) && facts_.parity == FunctionFacts::Parity::odd ? -v : v;
  }

  FnId fn_;
  FunctionFacts facts_;
  std::uint32_t first_;
  std::span<float> rounded_;
  std::span<double> value_;
};

}  // namespace

ReferenceCounts& ReferenceCounts::operator+=(const ReferenceCounts& o) {
  undefined += o.undefined, constant += o.constant, polynomial += o.polynomial, reduced += o.reduced, exact += o.exact;
  return *this;
}

bool has_f32_reference(FnId fn) { return has_taylor(fn); }

ReferenceCounts f32_reference(FnId fn, std::uint32_t first, std::span<float> rounded, std::span<double> value) {
  if (!has_f32_reference(fn) || rounded.size() != value.size() || first + rounded.size() > std::uint64_t{1} << 32) fail_internal("no such stretch of arguments");
  Filler filler(fn, first, rounded, value);
  if (!rounded.empty()) filler.fill(0, static_cast<std::int64_t>(rounded.size()));
  return filler.counts;
}

}  // namespace plumb::interp

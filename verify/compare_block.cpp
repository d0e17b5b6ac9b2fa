#include "verify/compare_block.h"

#include <algorithm>
#include <bit>
#include <cmath>

// One source, compiled for each vector width.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define PLUMB_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PLUMB_CLONES
#endif

namespace plumb::verify {
namespace {

struct One {
  bool misrounded, doubtful;
  double ulp;   ///< 0 where not known
};

/// 1 / ulp(v): the exponent field taken from that of 2^23 squared, subnormal values having the least normal one's.
[[gnu::always_inline]] inline double inverse_ulp(double v) {
  const double a = std::fabs(v), clamped = a < 0x1p-126 ? 0x1p-126 : a;
  const auto exponent = std::bit_cast<std::uint64_t>(clamped) & 0x7ff0000000000000u;
  return std::bit_cast<double>((std::uint64_t{2046 + 23} << 52) - exponent);
}

[[gnu::always_inline]] inline One one(float rounded, double value, float strict, float relaxed, double bound) {
  const auto r = std::bit_cast<std::uint32_t>(rounded), s = std::bit_cast<std::uint32_t>(strict), q = std::bit_cast<std::uint32_t>(relaxed);
  const bool r_nan = (r & 0x7fffffff) > 0x7f800000, s_nan = (s & 0x7fffffff) > 0x7f800000, q_nan = (q & 0x7fffffff) > 0x7f800000;
  const bool finite = ((r & 0x7f800000) != 0x7f800000) & ((q & 0x7f800000) != 0x7f800000);
  const double off = std::fabs(static_cast<double>(relaxed) - value) * inverse_ulp(value), known = finite & (off < 1e300) ? off : 0;
  const bool within = finite & (off <= bound) & (((r ^ q) & 0x80000000) == 0);
  const bool same = (q == r) | (q_nan & r_nan);
  const bool misrounded = (s != r) & !(s_nan & r_nan);
  return {misrounded, !(same | within), known};
}

/// What the two loops over a stretch find: the first on bit patterns, the second on doubles.
struct Screen {
  std::int32_t misrounded = 0, different = 0, other_sign = 0, outside = 0;
  std::int64_t worst = 0;   ///< a distance's pattern: numbers from 0 on are ordered as their patterns are
};

PLUMB_CLONES Screen screen(const float* rounded, const double* value, const float* strict, const float* relaxed, std::int32_t n, double bound) {
  std::int32_t misrounded = 0, different = 0, other_sign = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const auto r = std::bit_cast<std::int32_t>(rounded[i]), s = std::bit_cast<std::int32_t>(strict[i]), q = std::bit_cast<std::int32_t>(relaxed[i]);
    const std::int32_t r_nan = (r & 0x7fffffff) > 0x7f800000, s_nan = (s & 0x7fffffff) > 0x7f800000, q_nan = (q & 0x7fffffff) > 0x7f800000;
    misrounded += (s != r) & ((s_nan & r_nan) ^ 1);
    different += (q != r) & ((q_nan & r_nan) ^ 1);
    other_sign += (r ^ q) < 0;
  }
  std::int32_t outside = 0;
  std::int64_t worst = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const double off = std::fabs(static_cast<double>(relaxed[i]) - value[i]) * inverse_ulp(value[i]);
    const double known = (std::fabs(value[i]) < 0x1.ffffffp127) & (off < 1e300) ? off : 0;   // what rounds to a finite number
    const auto pattern = std::bit_cast<std::int64_t>(known);
    worst = pattern > worst ? pattern : worst;
    outside += off <= bound ? 0 : 1;
  }
  return {misrounded, different, other_sign, outside, worst};
}

}  // namespace

/// Where all answers are the rounded ones, or all within the bound and on the right side, none is doubtful: that is nearly everywhere.
Comparison compare(const Answers& a, double bound) {
  Comparison c;
  constexpr std::size_t step = 2048;
  std::int64_t worst = 0;
  for (std::size_t at = 0; at < a.rounded.size(); at += step) {
    const std::size_t n = std::min(step, a.rounded.size() - at);
    const Screen s = screen(&a.rounded[at], &a.value[at], &a.strict[at], &a.relaxed[at], static_cast<std::int32_t>(n), bound);
    c.misrounded += s.misrounded;
    worst = std::max(worst, s.worst);
    if (s.different && (s.outside || s.other_sign))
      for (std::size_t i = at; i < at + n; ++i) c.doubtful += one(a.rounded[i], a.value[i], a.strict[i], a.relaxed[i], bound).doubtful;
  }
  c.worst_ulp = std::bit_cast<double>(worst);
  return c;
}

std::int64_t find(const Answers& a, double bound, Sought what, double worst_ulp, std::int64_t from) {
  for (auto i = static_cast<std::size_t>(from); i < a.rounded.size(); ++i) {
    const One o = one(a.rounded[i], a.value[i], a.strict[i], a.relaxed[i], bound);
    if (what == Sought::misrounded ? o.misrounded : what == Sought::doubtful ? o.doubtful : o.ulp == worst_ulp) return static_cast<std::int64_t>(i);
  }
  return -1;
}

}  // namespace plumb::verify

// Many f32 answers of a function beside the right ones.
#pragma once
#include <cstdint>
#include <span>

namespace plumb::verify {

/// A stretch of answers: all five as long as each other.
struct Answers {
  std::span<const float> rounded;   ///< correctly rounded
  std::span<const double> value;    ///< the exact value within 2^-45 of it, or NaN where only its rounding is known
  std::span<const float> strict, relaxed;
};

struct Comparison {
  std::int32_t misrounded = 0;   ///< strict answers with other bits than `rounded`, but for NaN's
  std::int32_t doubtful = 0;     ///< relaxed answers that are neither `rounded` nor known to lie within the bound on its side of zero
  double worst_ulp = 0;          ///< over finite relaxed answers to known finite values: distance in units in the value's last place
};

/// `bound`: what a relaxed answer may be off, in ULP.
Comparison compare(const Answers& a, double bound);
/// The first place for which compare counted what the argument says; -1: none.
enum class Sought : std::uint8_t { misrounded, doubtful, worst };
std::int64_t find(const Answers& a, double bound, Sought what, double worst_ulp, std::int64_t from = 0);

}  // namespace plumb::verify

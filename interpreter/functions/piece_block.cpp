#include <bit>
#include <limits>

#include "interpreter/functions/piece.h"

// One source, compiled for each vector width; the bound on the error holds with and without fused multiply-adds.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define PLUMB_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PLUMB_CLONES
#endif

namespace plumb::interp {

PLUMB_CLONES std::int64_t evaluate(const Piece& piece, std::uint32_t first, std::span<float> rounded, std::span<double> value) {
  const Piece p = piece;
  float* to = rounded.data();
  double* exact = value.data();
  const auto n = static_cast<std::int32_t>(rounded.size());
  std::int32_t undecided = 0;
  for (std::int32_t i = 0; i < n; ++i) {
    const double u = (static_cast<double>(std::bit_cast<float>(first + static_cast<std::uint32_t>(i))) - p.centre) * p.inverse_width;
    double sum = p.c[taylor_terms - 1];
    for (int k = taylor_terms - 2; k >= 0; --k) sum = sum * u + p.c[static_cast<std::size_t>(k)];
    const auto low = static_cast<float>(sum - p.error), high = static_cast<float>(sum + p.error);
    const bool open = std::bit_cast<std::uint32_t>(low) != std::bit_cast<std::uint32_t>(high);
    undecided += open;
    to[i] = open ? std::numeric_limits<float>::quiet_NaN() : low;
    exact[i] = sum;
  }
  return undecided;
}

}  // namespace plumb::interp

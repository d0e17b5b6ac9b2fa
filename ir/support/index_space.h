// Row-major index arithmetic over concrete extents.
#pragma once
#include "ir/support/small_vector.h"

namespace plumb {

/// Number of elements; fails as bad input when the product overflows 63 bits.
inline std::int64_t element_count(std::span<const std::int64_t> extents) {
  std::int64_t n = 1;
  bool empty = false;
  for (auto e : extents) empty = empty || e == 0;
  if (empty) return 0;
  for (auto e : extents)
    if (__builtin_mul_overflow(n, e, &n)) fail_input("the product of the dimensions overflows 64 bits");
  return n;
}

inline Extents row_major_strides(std::span<const std::int64_t> extents) {
  Extents s(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) s[d - 1] = s[d] * extents[d];
  return s;
}

inline std::int64_t linearize(std::span<const std::int64_t> index, std::span<const std::int64_t> extents) {
  std::int64_t flat = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) flat = flat * extents[d] + index[d];
  return flat;
}

inline Index delinearize(std::int64_t flat, std::span<const std::int64_t> extents) {
  Index index(extents.size());
  for (std::size_t d = extents.size(); d-- > 0;) {
    index[d] = flat % extents[d];
    flat /= extents[d];
  }
  return index;
}

/// Steps to the next index in row-major order; false after the last one.
inline bool advance(Index& index, std::span<const std::int64_t> extents) {
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (++index[d] < extents[d]) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace plumb

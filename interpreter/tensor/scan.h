// The canonical order of scans (ir/tensor/ops/scan.h): a tree of radix 16, serial in each group.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace plumb::interp {

inline constexpr std::size_t scan_radix = 16;

/// What precedes each entry: nothing, or a combination.
template <class V, class F> std::vector<std::optional<V>> scan_prefixes(const std::vector<V>& x, F combine) {
  std::vector<std::optional<V>> above, r(x.size());
  if (x.size() > scan_radix) {
    std::vector<V> totals;
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k % scan_radix == 0) totals.push_back(x[k]);
      else totals.back() = combine(totals.back(), x[k]);
    above = scan_prefixes(totals, combine);
  }
  std::optional<V> prefix;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k % scan_radix == 0) prefix = above.empty() ? std::nullopt : above[k / scan_radix];
    r[k] = prefix;
    prefix = prefix ? combine(*prefix, x[k]) : x[k];
  }
  return r;
}

/// Running combinations in place; exclusive: without the element itself, and `start` where nothing precedes.
template <class V, class F> void scan_in_order(std::vector<V>& x, bool exclusive, V start, F combine) {
  const auto before = scan_prefixes(x, combine);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = exclusive ? before[k].value_or(start) : before[k] ? combine(*before[k], x[k]) : x[k];
}

/// The longest chain of combining steps that the contract allows a term of one of n running combinations; beyond a group, two
/// of them may be with what leaves a term as it is.
inline std::int64_t scan_height(std::int64_t n) {
  const auto radix = static_cast<std::int64_t>(scan_radix);
  std::int64_t levels = 0;
  for (std::int64_t size = 1; size < n; size *= radix) ++levels;
  return n <= radix ? std::max<std::int64_t>(n - 1, 0) : std::min(n + 1, radix * (2 * levels - 1));
}

}  // namespace plumb::interp

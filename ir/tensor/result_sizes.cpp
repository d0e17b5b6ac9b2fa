#include "ir/tensor/result_sizes.h"

#include <algorithm>
#include <cstring>

namespace plumb::ir {
namespace {

/// The first `count` slices along the axis.
Literal cut(const Literal& whole, std::size_t axis, std::int64_t count) {
  Type type = whole.type();
  const Extents e = type.extents();
  type.shape[axis] = count;
  Literal part(type);
  const auto stride = element_count(std::span(e).subspan(axis + 1)) * byte_size(type.dtype);
  const auto from = static_cast<const char*>(whole.raw());
  auto to = static_cast<char*>(part.mutable_raw());
  if (part.bytes() > 0)
    for (std::int64_t i = 0, n = element_count(std::span(e).first(axis)); i < n; ++i)
      std::memcpy(to + i * count * stride, from + i * e[axis] * stride, static_cast<std::size_t>(count * stride));
  return part;
}

}  // namespace

std::vector<Literal> exact_results(const Function& entry, const std::vector<Literal>& results) { return exact_results(entry, results, results); }

std::vector<Literal> exact_results(const Function& entry, const std::vector<Literal>& results, const std::vector<Literal>& counted) {
  if (entry.result_sizes.empty()) return results;
  auto exact = results;
  std::size_t asked = results.size();
  for (const auto& s : entry.result_sizes) {
    exact[s.result] = cut(exact[s.result], static_cast<std::size_t>(s.axis), counted[s.count].int_at(0));
    asked = std::min(asked, s.count);
  }
  exact.resize(asked);
  return exact;
}

}  // namespace plumb::ir

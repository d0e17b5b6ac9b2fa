#include "ir/tensor/ops/positions.h"

namespace plumb::ir::ops {

ValueId from_start(const Words& w, ValueId indices, std::int64_t size) {
  const auto at = w.b.convert(indices, DType::i64);
  return w("select", w.with("lt", at, 0), w.with("add", at, static_cast<double>(size)), at);
}

void FlatPositions::add(ValueId coordinate, std::int64_t size) {
  const auto wrong = w_("or", w_.with("lt", coordinate, 0), w_.with("ge", coordinate, static_cast<double>(size)));
  add_inside(w_("select", wrong, w_.b.splat_like(coordinate, -0x1p52), coordinate), size);
}
void FlatPositions::add_inside(ValueId coordinate, std::int64_t size) { at_ = at_ < 0 ? coordinate : w_("add", w_.with("mul", at_, static_cast<double>(size)), coordinate); }

std::variant<IndexPlan, std::string> index_plan(const Type& x, std::span<const Type> indices, const Ints& axes) {
  if (auto e = check_axes(axes, x.rank(), "axis"); !e.empty()) return "C1: " + e;
  if (axes.empty() || axes.size() != indices.size() || !std::is_sorted(axes.begin(), axes.end())) return "C1: axes must increase, one for each of the indices";
  const bool neighbours = axes.back() - axes.front() + 1 == static_cast<std::int64_t>(axes.size());
  IndexPlan p{{}, neighbours ? static_cast<std::size_t>(axes.front()) : 0};
  for (const auto& t : indices) {
    auto together = broadcast_shapes(p.at, t.shape);
    if (!is_integer(t.dtype)) return "C2: indices must be integers, not " + t.str();
    if (const auto* why = std::get_if<std::string>(&together)) return "C2: " + *why;
    p.at = std::get<Shape>(together);
  }
  if (x.rank() - axes.size() + p.at.size() > max_rank) return "C3: the indexed elements would have more than 12 axes";
  return p;
}

Shape indexed_shape(const Type& x, const IndexPlan& p, const Ints& axes) {
  const Shape rest = drop(x.shape, axes);
  Shape s;
  for (std::size_t d = 0; d < p.where; ++d) s.push_back(rest[d]);
  for (const auto& d : p.at) s.push_back(d);
  for (auto d = p.where; d < rest.size(); ++d) s.push_back(rest[d]);
  return s;
}

JoinedAxes join_axes(const Type& x, const IndexPlan& p, const Ints& axes) {
  JoinedAxes j;
  for (auto d : first_axes(x.rank()))
    if (!contains(axes, d)) j.perm.push_back(d);
  j.perm.insert(j.perm.begin() + static_cast<std::ptrdiff_t>(p.where), axes.begin(), axes.end());
  for (auto d : j.perm) j.moved.push_back(x.shape[static_cast<std::size_t>(d)]);
  std::int64_t joined = 1;
  for (auto d : axes) joined *= x.shape[static_cast<std::size_t>(d)].size();
  for (std::size_t d = 0; d < j.perm.size(); ++d) {
    if (d == p.where) j.joined.push_back(joined);
    if (d < p.where || d >= p.where + axes.size()) j.joined.push_back(j.moved[d]);
  }
  return j;
}

ValueId joined_positions(const Words& w, const Type& x, const IndexPlan& p, In indices, const Ints& axes) {
  FlatPositions flat(w);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto size = x.shape[static_cast<std::size_t>(axes[k])].size();
    const auto coordinate = w.b.broadcast_to(from_start(w, indices[k], size), p.at);
    if (axes.size() == 1) flat.add_inside(coordinate, size);  // no other axis hides a wrong one
    else flat.add(coordinate, size);
  }
  return flat.value();
}

}  // namespace plumb::ir::ops

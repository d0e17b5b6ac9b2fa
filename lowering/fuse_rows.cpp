#include "lowering/fuse_rows.h"

#include <algorithm>

#include "ir/tensor/op_table.h"
#include "ir/support/index_space.h"

namespace plumb::lowering {

using ir::Function;
using ir::Node;
using ir::OpClass;
using ir::Shape;

namespace {

/// Nodes that one kernel takes at most: what is emitted a row stays small.
constexpr std::size_t most_nodes = 64;

OpClass op_class(const Node& n) { return ir::row(n.op).op_class; }
bool pointwise(const Node& n) { return op_class(n) == OpClass::elementwise || op_class(n) == OpClass::convert || op_class(n) == OpClass::select; }

bool reduces_rows(const Function& f, const Node& n, const Shape& rows) {
  if (op_class(n) != OpClass::reduce || f.type(n.operands[0]).shape != rows) return false;
  const auto& axes = n.attrs.ints("axes");
  return axes.size() == 1 && axes[0] + 1 == static_cast<std::int64_t>(rows.size());
}

bool reshapes_rows(const Function& f, const Node& n, const Shape& rows) {
  const auto& from = f.type(n.operands[0]).shape;
  const auto name = ir::name(n);
  return one_a_row(from, rows) && one_a_row(f.type(n.results[0]).shape, rows) && (name == "reshape" || (name == "broadcast" && spreads_rows(f, n, rows)));
}

class Grower {
 public:
  Grower(const Function& f, const std::vector<bool>& taken) : f_(f), taken_(taken), users_(f.values.size()) {
    for (std::size_t k = 0; k < f.nodes.size(); ++k)
      for (auto v : f.nodes[k].operands) users_[static_cast<std::size_t>(v)].push_back(static_cast<int>(k));
    for (auto v : f.results) users_[static_cast<std::size_t>(v)].push_back(-1);
  }

  /// The largest group that ends in the node; empty when it reduces nothing.
  RowGroup ending_in(int root) {
    rows_ = f_.type(node(root).results[0]).shape;
    inside_.assign(f_.nodes.size(), false);
    std::size_t size = 0;
    grow(root, size);
    while (leave(root)) {}
    keep_reached(root);
    RowGroup group;
    bool reduces = false;
    for (std::size_t k = 0; k < f_.nodes.size(); ++k)
      if (inside_[k]) {
        group.push_back(static_cast<int>(k));
        reduces = reduces || op_class(f_.nodes[k]) == OpClass::reduce;
      }
    return reduces ? group : RowGroup{};
  }

 private:
  const Node& node(int k) const { return f_.nodes[static_cast<std::size_t>(k)]; }

  bool fits(int k) const {
    const auto& n = node(k);
    if (taken_[static_cast<std::size_t>(k)] || n.results.size() != 1) return false;
    const auto& shape = f_.type(n.results[0]).shape;
    if (reduces_rows(f_, n, rows_) || reshapes_rows(f_, n, rows_) || spreads_rows(f_, n, rows_)) return true;
    return pointwise(n) && (shape == rows_ || one_a_row(shape, rows_));
  }

  void grow(int k, std::size_t& size) {
    if (inside_[static_cast<std::size_t>(k)] || size == most_nodes || !fits(k)) return;
    inside_[static_cast<std::size_t>(k)] = true;
    ++size;
    for (auto v : node(k).operands)
      if (const auto d = f_.value(v).node; d >= 0) grow(d, size);
  }

  /// Takes out nodes whose values leave the group; whether there were any.
  bool leave(int root) {
    bool any = false;
    for (std::size_t k = f_.nodes.size(); k-- > 0;) {
      if (!inside_[k] || static_cast<int>(k) == root) continue;
      const auto& users = users_[static_cast<std::size_t>(f_.nodes[k].results[0])];
      if (std::all_of(users.begin(), users.end(), [&](int u) { return u >= 0 && inside_[static_cast<std::size_t>(u)]; })) continue;
      inside_[k] = false;
      any = true;
    }
    return any;
  }

  void keep_reached(int root) {
    std::vector<bool> reached(f_.nodes.size(), false);
    reached[static_cast<std::size_t>(root)] = true;
    for (std::size_t k = f_.nodes.size(); k-- > 0;) {
      inside_[k] = inside_[k] && reached[k];
      if (!inside_[k]) continue;
      for (auto v : f_.nodes[k].operands)
        if (const auto d = f_.value(v).node; d >= 0) reached[static_cast<std::size_t>(d)] = true;
    }
  }

  const Function& f_;
  const std::vector<bool>& taken_;
  std::vector<std::vector<int>> users_;
  std::vector<bool> inside_;
  Shape rows_;
};

/// Rows that one block of threads, or one core's cache, holds; and of which there are enough to share out.
bool worth_a_kernel(const Extents& rows, const kir::TargetFacts& target) {
  if (rows.empty()) return false;
  const std::int64_t n = rows.back(), count = n > 0 ? element_count(rows) / n : 0;
  if (target.grid) return n >= 64 && n <= 65536 && count >= 1;
  return n >= 16 && n <= 65536 && count >= 64;
}

}  // namespace

bool one_a_row(const Shape& s, const Shape& rows) {
  if (rows.empty()) return false;
  const bool kept = s.size() == rows.size() && s.back() == ir::Dim(1);
  if (!kept && s.size() + 1 != rows.size()) return false;
  return std::equal(rows.begin(), rows.end() - 1, s.begin());
}

bool spreads_rows(const Function& f, const Node& n, const Shape& rows) {
  if (ir::name(n) != "broadcast") return false;
  const auto &from = f.type(n.operands[0]).shape, &to = f.type(n.results[0]).shape;
  if (!one_a_row(from, rows) || (to != rows && !one_a_row(to, rows))) return false;
  const auto& dims = n.attrs.ints("dims");
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (dims[k] != static_cast<std::int64_t>(k)) return false;
  return true;
}

bool is_row_program(const Function& spec) {
  const auto& rows = spec.type(spec.results.at(0)).shape;
  bool any = false;
  for (const auto& n : spec.nodes) {
    if (op_class(n) != OpClass::reduce) continue;
    if (!reduces_rows(spec, n, rows)) return false;
    any = true;
  }
  return any;
}

std::vector<RowGroup> row_groups(const Function& f, const std::vector<bool>& taken, const kir::TargetFacts& target) {
  std::vector<RowGroup> groups;
  std::vector<bool> used = taken;
  Grower grower(f, used);
  for (std::size_t k = f.nodes.size(); k-- > 0;) {
    const auto& n = f.nodes[k];
    if (used[k] || !pointwise(n) || !worth_a_kernel(f.type(n.results[0]).extents(), target)) continue;
    auto group = grower.ending_in(static_cast<int>(k));
    if (group.empty()) continue;
    for (int m : group) used[static_cast<std::size_t>(m)] = true;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace plumb::lowering

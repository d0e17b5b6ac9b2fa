// Which nodes share a kernel.
//
//  anchors     reductions, contractions, windows, scans, sorts, scatters each have a kernel of their own.
//  epilogues   element-wise consumers of an anchor's result (a scan's, sort's and scatter's excepted), of its shape, join it as long as one value leaves the group.
//  inlining    any other node is evaluated where it is used, unless that repeats work: it is a result, or costs something
//              and is read by several kernels, or at several indices of one, or a contraction, window, gather or sort would read each element many times, or
//              a broadcast would.
//  concat      has a kernel of its own: it writes each operand's range in turn.
//  depth       a chain of more than 512 inlined nodes is cut: emission, and whoever reads a kernel's specification, recurses.
#include <algorithm>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "lowering/emit.h"
#include "lowering/passes.h"

namespace plumb::lowering {
namespace {

using ir::Function;
using ir::Node;
using ir::OpClass;
using ir::ValueId;

class Fuser {
 public:
  Fuser(const Function& f, bool enabled) : f_(f), enabled_(enabled), uses_(users()), root_(f.nodes.size(), false), space_(f.nodes.size(), -1), group_root_(f.nodes.size(), -1), depth_(f.nodes.size(), 0), member_of_(f.nodes.size(), -1) {}

  Plan run() {
    for (std::size_t k = 0; k < f_.nodes.size(); ++k)
      if (anchor(k)) grow_epilogue(static_cast<int>(k));
    for (std::size_t k = f_.nodes.size(); k-- > 0;)
      if (member_of_[k] < 0) {
        space_[k] = users_space(k);
        root_[k] = too_deep(k) || materialised(k);
      }
    Plan plan;
    for (std::size_t k = 0; k < f_.nodes.size(); ++k) {
      if (control(k)) plan.items.push_back({{}, static_cast<int>(k)});
      else if (root_[k] && !is_literal(k)) plan.items.push_back({outline(static_cast<int>(k)), -1});
    }
    return plan;
  }

 private:
  OpClass op_class(std::size_t k) const { return ir::row(f_.nodes[k].op).op_class; }
  /// Nodes that are steps of their own: control flow and library calls.
  bool control(std::size_t k) const { return op_class(k) == OpClass::control || op_class(k) == OpClass::library; }
  bool anchor(std::size_t k) const {
    switch (op_class(k)) {
      case OpClass::reduce:
      case OpClass::arg_reduce:
      case OpClass::window:
      case OpClass::scan:
      case OpClass::sort:
      case OpClass::scatter:
      case OpClass::contract: return true;
      default: return false;
    }
  }
  bool pointwise(std::size_t k) const { return op_class(k) == OpClass::elementwise || op_class(k) == OpClass::convert || op_class(k) == OpClass::select; }
  bool is_concat(std::size_t k) const { return ir::name(f_.nodes[k]) == "concat"; }
  bool is_constant(std::size_t k) const { return ir::name(f_.nodes[k]) == "constant"; }
  /// A constant that lives in memory rather than in the code.
  bool is_literal(std::size_t k) const { return is_constant(k) && !is_splat(f_.nodes[k].attrs.get<ir::Literal>("value")); }
  const ir::Shape& shape(std::size_t k) const { return f_.type(f_.nodes[k].results[0]).shape; }

  std::vector<std::vector<int>> users() const {
    std::vector<std::vector<int>> r(f_.values.size());
    for (std::size_t k = 0; k < f_.nodes.size(); ++k)
      for (auto v : f_.nodes[k].operands) r[static_cast<std::size_t>(v)].push_back(static_cast<int>(k));
    for (auto v : f_.results) r[static_cast<std::size_t>(v)].push_back(-1);
    return r;
  }
  const std::vector<int>& users_of(std::size_t k) const { return uses_[static_cast<std::size_t>(f_.nodes[k].results[0])]; }

  /// Nodes after an anchor that may join it; keeps the longest prefix out of which one value leaves.
  void grow_epilogue(int a) {
    std::vector<int> group{a};
    std::vector<bool> inside(f_.nodes.size(), false), depends(f_.nodes.size(), false);
    inside[static_cast<std::size_t>(a)] = depends[static_cast<std::size_t>(a)] = true;
    std::size_t best = 1;
    int best_root = a;
    const auto c = op_class(static_cast<std::size_t>(a));
    const bool may_grow = enabled_ && c != OpClass::scan && c != OpClass::sort && c != OpClass::scatter;
    for (std::size_t k = static_cast<std::size_t>(a) + 1; may_grow && k < f_.nodes.size() && group.size() < 24; ++k) {
      bool from_group = false, from_outside = false;
      for (auto v : f_.nodes[k].operands) {
        const auto d = f_.value(v).node;
        if (d < 0) continue;
        from_group = from_group || inside[static_cast<std::size_t>(d)];
        from_outside = from_outside || (depends[static_cast<std::size_t>(d)] && !inside[static_cast<std::size_t>(d)]);
      }
      depends[k] = from_group || from_outside;
      if (!from_group || from_outside || !pointwise(k) || member_of_[k] >= 0 || shape(k) != shape(static_cast<std::size_t>(a))) continue;
      inside[k] = true;
      group.push_back(static_cast<int>(k));
      if (const int root = only_escape(group, inside); root >= 0) best = group.size(), best_root = root;
    }
    for (std::size_t i = 0; i < best; ++i) member_of_[static_cast<std::size_t>(group[i])] = a;
    root_[static_cast<std::size_t>(best_root)] = true;
    group_root_[static_cast<std::size_t>(a)] = best_root;
  }

  /// The one node whose value is used outside the group; -1 when there are several.
  int only_escape(const std::vector<int>& group, const std::vector<bool>& inside) const {
    int root = -1;
    for (int k : group)
      for (int u : users_of(static_cast<std::size_t>(k)))
        if (u < 0 || !inside[static_cast<std::size_t>(u)]) {
          if (root >= 0 && root != k) return -1;
          root = k;
        }
    return root;
  }

  static int cost(const Node& n) {
    const auto& r = ir::row(n.op);
    if (r.op_class == OpClass::gather) return 3;
    if (r.op_class != OpClass::elementwise) return r.op_class == OpClass::convert || r.op_class == OpClass::select ? 1 : 0;
    return plumb::row(r.fn).ulp > 0.5 || r.name == "sqrt" || r.name == "remainder" || r.name == "fmod" || r.name == "floor_div" ? 20 : r.name == "div" ? 5 : 1;
  }

  /// What evaluating the node in a kernel costs, inlined operands included.
  int total_cost(std::size_t k) const {
    int c = cost(f_.nodes[k]);
    for (auto v : f_.nodes[k].operands) {
      const auto d = f_.value(v).node;
      if (d >= 0 && member_of_[static_cast<std::size_t>(d)] < 0 && c < 200) c += inlined_cost(static_cast<std::size_t>(d), 6);
    }
    return c;
  }
  int inlined_cost(std::size_t k, int depth) const {
    int c = cost(f_.nodes[k]);
    if (depth > 0)
      for (auto v : f_.nodes[k].operands)
        if (const auto d = f_.value(v).node; d >= 0 && member_of_[static_cast<std::size_t>(d)] < 0) c += inlined_cost(static_cast<std::size_t>(d), depth - 1);
    return c;
  }

  /// Notes how far below its kernel's root the node would be inlined; whether that is too far.
  bool too_deep(std::size_t k) {
    constexpr int most = 512;
    int depth = 0;
    for (int u : users_of(k))
      if (u >= 0) depth = std::max(depth, root_[static_cast<std::size_t>(u)] ? 1 : depth_[static_cast<std::size_t>(u)] + 1);
    depth_[k] = depth;
    return depth > most && !control(k) && !is_constant(k);
  }

  /// Whether the node's value gets memory. Users come later in the order, so they are already settled.
  bool materialised(std::size_t k) {
    if (control(k)) return false;
    if (is_constant(k) && !is_literal(k)) return std::count(users_of(k).begin(), users_of(k).end(), -1) > 0 || feeds_control(k);
    if (is_literal(k)) return true;
    if (!enabled_ || is_concat(k) || anchor(k)) return true;
    const int price = total_cost(k);
    for (int u : users_of(k)) {
      if (u < 0 || control(static_cast<std::size_t>(u))) return true;
      if (repeats(static_cast<std::size_t>(u), k, price)) return true;
    }
    return users_of(k).size() > 1 && space_[k] < 0 && price > 2;
  }

  /// Where a user reads the node's elements: a number that two users share when they read them at the same indices of the same
  /// kernel, so that each is computed once for both. A view, gather or anchor reads at indices of its own; so does a kernel's
  /// root; what is inlined reads where its users do. -1: at several.
  int space_of(int user) const {
    const auto u = static_cast<std::size_t>(user);
    if (is_concat(u)) return -1;
    if (!pointwise(u) || root_[u]) return user;
    return member_of_[u] >= 0 ? group_root_[static_cast<std::size_t>(member_of_[u])] : space_[u];
  }
  int users_space(std::size_t k) const {
    int all = -2;
    for (int u : users_of(k)) {
      const int s = u < 0 ? -1 : space_of(u);
      all = all == -2 || all == s ? s : -1;
    }
    return all;
  }
  bool feeds_control(std::size_t k) const {
    return std::any_of(users_of(k).begin(), users_of(k).end(), [&](int u) { return u >= 0 && control(static_cast<std::size_t>(u)); });
  }

  /// Whether a user reads the node's elements so often that computing each once is better.
  bool repeats(std::size_t user, std::size_t k, int price) const {
    const auto c = op_class(user);
    const auto& n = f_.nodes[user];
    const ValueId v = f_.nodes[k].results[0];
    if (c == OpClass::contract || c == OpClass::window || c == OpClass::sort || c == OpClass::scatter || c == OpClass::arg_reduce) return price > 0 || ir::name(f_.nodes[k]) == "pad";
    if (c == OpClass::gather && n.operands[0] == v) return price > 0;
    if (is_concat(user)) return false;
    if (op_class(user) == OpClass::view && price > 0) {
      const auto in = f_.type(v).elements(), out = f_.type(n.results[0]).elements();
      if (price > 2 && out >= 8 * std::max<std::int64_t>(in, 1)) return true;
      for (int u : users_of(user))  // through the view
        if (u >= 0 && !root_[user] && repeats(static_cast<std::size_t>(u), user, price)) return true;
    }
    return false;
  }

  bool stops(ValueId v, int root) const {
    const auto d = f_.value(v).node;
    if (d < 0) return true;
    const auto k = static_cast<std::size_t>(d);
    if (control(k) || (is_literal(k))) return true;
    if (is_constant(k)) return false;
    if (member_of_[k] >= 0) return !(member_of_[k] == member_of_[static_cast<std::size_t>(root)]);
    return root_[k];
  }

  Group outline(int root) const {
    std::vector<bool> taken(f_.nodes.size(), false);
    std::vector<ValueId> inputs;
    collect(root, root, taken, inputs);
    auto spec = std::make_shared<Function>();
    spec->name = "kernel";
    ir::Builder b(*spec);
    std::vector<ValueId> map(f_.values.size(), -1);
    for (auto v : inputs) map[static_cast<std::size_t>(v)] = b.param(f_.type(v), "x" + std::to_string(spec->params.size()));
    for (std::size_t k = 0; k < f_.nodes.size(); ++k) {
      if (!taken[k]) continue;
      const auto& n = f_.nodes[k];
      std::vector<ValueId> operands;
      for (auto v : n.operands) operands.push_back(map[static_cast<std::size_t>(v)]);
      const ir::Type types[] = {f_.type(n.results[0])};
      b.at(n.where);
      map[static_cast<std::size_t>(n.results[0])] = b.add_typed(n.op, operands, n.attrs, types)[0];
    }
    const ValueId out = f_.nodes[static_cast<std::size_t>(root)].results[0];
    const ValueId results[] = {map[static_cast<std::size_t>(out)]};
    b.results(results);
    return {spec, inputs, out};
  }

  void collect(int k, int root, std::vector<bool>& taken, std::vector<ValueId>& inputs) const {
    if (taken[static_cast<std::size_t>(k)]) return;
    taken[static_cast<std::size_t>(k)] = true;
    for (auto v : f_.nodes[static_cast<std::size_t>(k)].operands) {
      if (!stops(v, root)) collect(f_.value(v).node, root, taken, inputs);
      else if (std::find(inputs.begin(), inputs.end(), v) == inputs.end()) inputs.push_back(v);
    }
  }

  const Function& f_;
  bool enabled_;
  std::vector<std::vector<int>> uses_;
  std::vector<bool> root_;
  std::vector<int> space_;       ///< of an inlined node: where its users read it
  std::vector<int> group_root_;  ///< of an anchor
  std::vector<int> depth_;
  std::vector<int> member_of_;
};

}  // namespace

Plan fuse(const Function& f, bool enabled) { return Fuser(f, enabled).run(); }

}  // namespace plumb::lowering

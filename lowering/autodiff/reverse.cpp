// The reverse pass: from the last operation to the first, each one's cotangents are pulled back to its operands.
#include <algorithm>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "lowering/autodiff/control.h"
#include "lowering/autodiff/module.h"
#include "lowering/autodiff/rules.h"
#include "lowering/autodiff/slopes.h"

namespace plumb::lowering::autodiff {
namespace {

using ir::Function;
using ir::Node;

/// Operations that leave places without a cotangent: their zeros say that nothing was taken from there.
bool leaves_out(std::string_view op) {
  static constexpr std::string_view list[] = {"select", "slice", "concat", "gather", "gather_elements", "pad", "maximum", "minimum", "reduce_max", "reduce_min", "reduce_window_max", "reduce_window_min",
                                              "max_pool", "cummax", "cummin", "scatter_max", "scatter_min", "norm"};
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}
/// Operations that pull a zero back as a zero, not mixed with others.
bool keeps_apart(const Node& n) {
  using enum ir::OpClass;
  const auto c = ir::row(n.op).op_class;
  const auto op = ir::name(n);
  return c == elementwise || c == convert || (c == view && op != "broadcast") || c == sort || op == "reduce_sum";
}
/// Whether slopes are infinite at a number where programs often are: at 0.
bool steep(const Function& f, const Node& n) {
  const auto op = ir::name(n);
  if (op != "pow") return op == "sqrt" || op == "cbrt";
  const auto power = number_of(f, n.operands[1]);
  return !power || *power < 1;
}

class Reverse {
 public:
  Reverse(const Function& f, const Task& task) : task_(task), out_(expanded(f, task.wrt)), b_(out_), active_(active_values(out_, task.wrt)) {}

  Function run() {
    const auto params = out_.params;
    const auto count = out_.nodes.size();
    cotangents_.assign(out_.values.size(), {});
    seed();
    for (auto k = count; k-- > 0;) pull(out_.nodes[k]);
    std::vector<ValueId> results;
    if (task_.values) results = out_.results;
    b_.at({});
    for (std::size_t k = 0; k < task_.wrt.size(); ++k) {
      if (!task_.wrt[k]) continue;
      const auto& c = cotangents_[static_cast<std::size_t>(params[k])];
      results.push_back(c.id >= 0 ? c.id : Words{b_}.zeros(b_.type(params[k])));
    }
    b_.results(results);
    out_.result_names.clear();
    out_.result_sizes.clear();
    return tidied(std::move(out_));
  }

 private:
  /// The cotangent of a value, and whether zeros in it say that nothing was taken from there.
  struct Cotangent {
    ValueId id = -1;
    bool masked = true;
  };

  void seed() {
    const auto results = out_.results;
    for (std::size_t k = 0; k < results.size(); ++k) {
      if (!task_.seeded[k]) continue;
      const auto seed = task_.ones ? b_.splat_like(results[k], 1) : b_.param(b_.type(results[k]), unused("ct" + std::to_string(k)));
      if (is_active(results[k])) add(results[k], seed, false);
    }
  }
  std::string unused(std::string name) const {
    while (std::any_of(out_.values.begin(), out_.values.end(), [&](const auto& v) { return v.name == name; })) name += "_";
    return name;
  }

  bool is_active(ValueId v) const { return active_[static_cast<std::size_t>(v)]; }

  void add(ValueId to, ValueId g, bool masked) {
    auto& c = cotangents_[static_cast<std::size_t>(to)];
    c.id = c.id < 0 ? g : b_.op("add", {c.id, g});
    c.masked = c.masked && masked;
  }

  void pull(const Node n) {
    Step s{{b_}, n.attrs, ir::name(n), n.operands, n.results, {}, {}, true};
    bool any = false;
    for (auto v : n.results) {
      const auto& c = cotangents_[static_cast<std::size_t>(v)];
      s.g.push_back(c.id);
      any = any || c.id >= 0;
      if (c.id >= 0) s.masked = s.masked && c.masked;
    }
    for (auto v : n.operands) s.wanted.push_back(is_active(v));
    if (!any || std::none_of(s.wanted.begin(), s.wanted.end(), [](bool w) { return w; })) return;
    b_.at(n.where);
    const auto pulled = pulled_back(n, s);
    const bool masked = leaves_out(s.op) || (s.masked && keeps_apart(n));
    for (std::size_t k = 0; k < pulled.size(); ++k)
      if (pulled[k] >= 0 && s.wanted[k]) add(s.in[k], pulled[k], masked);
  }

  std::vector<ValueId> pulled_back(const Node& n, const Step& s) {
    const auto& row = ir::row(n.op);
    if (row.op_class == ir::OpClass::elementwise) {
      auto r = s.nothing();
      const auto all = slopes(b_, row.fn, s.in);
      for (std::size_t k = 0; k < r.size(); ++k)
        if (s.wanted[k]) r[k] = scaled(b_, s.g[0], all[k], task_.guarded && (s.masked || steep(out_, n)));
      return r;
    }
    if (row.op_class == ir::OpClass::control) return pull_control(task_, n, s);
    if (const auto* rule = find_rule(s.op)) return rule->pull(s);
    fail_input(std::string(s.op) + " has no derivative; differentiate by parameters that do not reach it, or compute what it does by operations that have one", n.where);
  }

  const Task& task_;
  Function out_;
  ir::Builder b_;
  std::vector<bool> active_;
  std::vector<Cotangent> cotangents_;
};

}  // namespace

Function reversed(const Function& f, const Task& task) { return Reverse(f, task).run(); }

}  // namespace plumb::lowering::autodiff

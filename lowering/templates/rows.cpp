#include "lowering/templates/rows.h"

#include "ir/tensor/op_table.h"
#include "lowering/fuse_rows.h"

namespace plumb::lowering {
namespace {

using ir::Node;
using ir::OpClass;
using ir::ValueId;

bool pointwise(const Node& n) {
  const auto c = ir::row(n.op).op_class;
  return c == OpClass::elementwise || c == OpClass::convert || c == OpClass::select;
}

class Planner {
 public:
  Planner(const KernelContext& c, Keep keep) : spec_(c.spec), rows_(spec_.type(c.root).shape), root_(c.root), keep_(keep), level_(spec_.values.size(), 0), elsewhere_(spec_.values.size(), false) {
    for (const auto& n : spec_.nodes) {
      const bool reduces = ir::row(n.op).op_class == OpClass::reduce;
      int level = 0;
      for (auto v : n.operands) {
        level = std::max(level, level_[at(v)]);
        if (!reduces && !pointwise(n)) elsewhere_[at(v)] = true;
      }
      level_[at(n.results[0])] = level + reduces;
      if (reduces) passes_ = std::max(passes_, level + 1);
    }
  }

  RowPlan run() {
    RowPlan plan;
    plan.passes.resize(static_cast<std::size_t>(passes_) + 1);
    for (std::size_t k = 0; k < spec_.nodes.size(); ++k) {
      const auto& n = spec_.nodes[k];
      const auto v = n.results[0];
      if (ir::row(n.op).op_class == OpClass::reduce) plan.passes[static_cast<std::size_t>(level_[at(n.operands[0])])].reductions.push_back(static_cast<int>(k));
      else if (level_[at(v)] > 0 && one_a_row(spec_.type(v).shape, rows_)) plan.passes[static_cast<std::size_t>(level_[at(v)]) - 1].row_values.push_back(v);
    }
    for (std::size_t p = 0; p + 1 < plan.passes.size(); ++p) choose_keeps(plan, p);
    for (std::size_t p = 1; p < plan.passes.size(); ++p)
      for (auto v : reached(plan, p))
        if (kept_.count(v) && kept_[v] < p) plan.passes[p].reads.push_back(v), plan.last_read[v] = p;
    return plan;
  }

 private:
  static std::size_t at(ValueId v) { return static_cast<std::size_t>(v); }
  bool full(ValueId v) const { return spec_.type(v).shape == rows_; }

  /// The elements that a pass needs, down to those that are kept before it, operands after what they are for.
  std::set<ValueId, std::greater<>> reached(const RowPlan& plan, std::size_t p) const {
    std::set<ValueId, std::greater<>> seen;
    std::vector<ValueId> todo;
    for (int k : plan.passes[p].reductions) todo.push_back(spec_.nodes[static_cast<std::size_t>(k)].operands[0]);
    if (p + 1 == plan.passes.size()) todo.push_back(root_);
    while (!todo.empty()) {
      const auto v = todo.back();
      todo.pop_back();
      if (!full(v) || !seen.insert(v).second) continue;
      if (auto k = kept_.find(v); k != kept_.end() && k->second < p) continue;
      const auto d = spec_.value(v).node;
      if (d < 0 || !pointwise(spec_.nodes[static_cast<std::size_t>(d)])) continue;
      for (auto o : spec_.nodes[static_cast<std::size_t>(d)].operands) todo.push_back(o);
    }
    return seen;
  }

  bool needed_after(const RowPlan& plan, std::size_t p, ValueId v) const {
    for (std::size_t later = p + 1; later < plan.passes.size(); ++later)
      if (reached(plan, later).count(v)) return true;
    return false;
  }

  /// Results before their operands, so that nothing is kept for the sake of what is kept itself.
  void choose_keeps(RowPlan& plan, std::size_t p) {
    for (auto v : reached(plan, p)) {
      if (kept_.count(v) || elsewhere_[at(v)] || !dear(v) || !needed_after(plan, p, v)) continue;
      kept_[v] = p;
      plan.passes[p].keeps.push_back(v);
    }
  }

  /// Whether reading the value back is cheaper than computing it once more.
  bool dear(ValueId v) const {
    const auto d = spec_.value(v).node;
    if (keep_ == Keep::nothing) return false;
    if (d < 0) return keep_ == Keep::all;
    const auto& n = spec_.nodes[static_cast<std::size_t>(d)];
    const auto& r = ir::row(n.op);
    if (r.op_class == OpClass::gather) return true;
    return r.op_class == OpClass::elementwise && (plumb::row(r.fn).ulp > 0.5 || r.name == "sqrt" || r.name == "div" || r.name == "remainder" || r.name == "fmod" || r.name == "floor_div");
  }

  const ir::Function& spec_;
  const ir::Shape rows_;
  ValueId root_;
  Keep keep_;
  int passes_ = 0;
  std::vector<int> level_;         ///< of a value: how many reductions stand in a chain before it
  std::vector<bool> elsewhere_;    ///< read at indices of other elements too
  std::map<ValueId, std::size_t> kept_;
};

/// One row on a CPU: it stays in the cache, and each pass runs over it in vectors.
class CpuRow {
 public:
  CpuRow(RowContext& r, Indices row) : r_(r), c_(r.c), row_(std::move(row)) {}

  kir::VarId run() {
    for (std::size_t p = 0; p + 1 < r_.plan.passes.size(); ++p) {
      const auto& pass = r_.plan.passes[p];
      keep(pass);
      for (int k : pass.reductions) reduce(pass, k);
      c_.e.enter_block();
      r_.bind_row_values(pass, row_);
    }
    kir::VarId column = -1;
    const std::int64_t wanted = r_.columns() - (c_.options.fault == Fault::tail_mask && r_.columns() % c_.width() > 1 ? 1 : 0);
    each(wanted, [&](Affine i) {
      column = loop_var(i);
      with_kept(r_.plan.passes.back(), i, [&] { c_.e.store(c_.output, element(i), c_.e.at(c_.root, element(i)), c_.spec.type(c_.root).dtype); });
    });
    return column;
  }

 private:
  Indices element(const Affine& i) const {
    auto at = row_;
    at.push_back(i);
    return at;
  }
  void each(std::int64_t n, const std::function<void(Affine)>& body) {
    c_.b.loop("i", n, kir::LoopKind::vector, [&](Affine i) {
      c_.e.enter_block();
      body(i);
    }, c_.width());
    c_.e.enter_block();
  }
  void with_kept(const RowPass& pass, const Affine& i, const std::function<void()>& body) {
    for (auto v : pass.reads) c_.e.bind(v, c_.b.load(kept_.at(v), {i}));
    body();
    for (auto v : pass.reads) c_.e.unbind(v);
  }
  void keep(const RowPass& pass) {
    if (pass.keeps.empty()) return;
    for (auto v : pass.keeps) kept_[v] = c_.b.alloc("kept", Emitter::compute_dtype(c_.spec.type(v).dtype), {r_.columns()});
    each(r_.columns(), [&](Affine i) {
      with_kept(pass, i, [&] {
        for (auto v : pass.keeps) c_.b.store(kept_.at(v), {i}, c_.e.at(v, element(i)));
      });
    });
  }
  void reduce(const RowPass& pass, int k) {
    const auto x = r_.node(k).operands[0];
    const auto acc = emit_reduction(c_, r_.function_of(k), r_.dtype_of(k), r_.columns(), true, r_.reduction_of.at(k), [&](const Affine& i) {
      ScalarId term = -1;
      for (auto v : pass.keeps) c_.e.bind(v, c_.b.load(kept_.at(v), {i}));
      with_kept(pass, i, [&] { term = c_.e.at(x, element(i)); });
      for (auto v : pass.keeps) c_.e.unbind(v);
      return term;
    });
    c_.e.enter_block();
    r_.bind_reduction(k, c_.b.load(acc, {0}));
  }

  RowContext& r_;
  KernelContext& c_;
  Indices row_;
  std::map<ValueId, BufferId> kept_;
};

void lower_rows_on_cpu(KernelContext& c) {
  RowContext r(c, Keep::computed);
  kir::OutputMap map{c.output.buffer, {}};
  std::function<void(Indices)> nest = [&](Indices at) {
    const std::size_t d = at.size();
    if (d + 1 == c.shape.size()) {
      map.inverse.emplace_back(CpuRow(r, std::move(at)).run(), Affine::coordinate(static_cast<int>(d)));
      return;
    }
    c.b.loop("o" + std::to_string(d), c.shape[d], kir::LoopKind::parallel, [&](Affine o) {
      map.inverse.emplace_back(loop_var(o), Affine::coordinate(static_cast<int>(d)));
      at.push_back(o);
      nest(std::move(at));
    });
  };
  nest({});
  c.kernel->output_maps.push_back(std::move(map));
}

}  // namespace

RowPlan plan_rows(const KernelContext& c, Keep keep) { return Planner(c, keep).run(); }

RowContext::RowContext(KernelContext& context, Keep keep) : c(context), plan(plan_rows(context, keep)) {
  c.kernel->schedule = "rows";
  c.place_buffers(std::vector<bool>(c.shape.size() - 1, false));
  for (const auto& pass : plan.passes)
    for (int k : pass.reductions) {
      reduction_of[k] = static_cast<int>(c.kernel->reductions.size());
      c.kernel->reductions.push_back({k, function_of(k), accumulator(dtype_of(k)), false, columns(), reduction_height(columns())});
    }
}

FnId RowContext::function_of(int reduction) const { return ir::row(node(reduction).op).fn; }

/// Under strict the program's next operation reads the result as it has it: rounded.
void RowContext::bind_reduction(int k, ScalarId accumulated) {
  const auto v = node(k).results[0];
  const DType t = c.spec.type(v).dtype;
  const auto s = c.b.convert(accumulated, Emitter::compute_dtype(t));
  c.e.bind(v, c.options.contract == Contract::strict ? c.e.rounded(s, t) : s);
}

void RowContext::bind_row_values(const RowPass& pass, const Indices& row) {
  for (auto v : pass.row_values) {
    auto at = row;
    if (c.spec.type(v).rank() == c.shape.size()) at.emplace_back(0);
    c.e.bind(v, c.e.at(v, at));
  }
}

void lower_rows(KernelContext& c) { c.options.target.grid ? lower_rows_on_grid(c) : lower_rows_on_cpu(c); }

}  // namespace plumb::lowering

// The pipeline, as a page: what happens to a module, in order.
#include "lowering/pipeline.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "ir/tensor/builder.h"
#include "ir/tensor/loops.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/split_complex.h"
#include "ir/tensor/text.h"
#include "ir/tensor/verifier.h"
#include "lowering/emit.h"
#include "lowering/passes.h"
#include "lowering/templates/template.h"

namespace plumb::lowering {
namespace {

using ir::ValueId;

struct TensorPass {
  PassInfo info;
  ir::Module (*run)(ir::Module);
};

template <ir::Function (*pass)(const ir::Function&)> ir::Module each_function(ir::Module m) {
  for (auto& f : m.functions) f = pass(f);
  return m;
}
ir::Module loops(ir::Module m) { return ir::expand_loops(std::move(m)); }
ir::Module split(ir::Module m) { return ir::has_complex(m) ? ir::split_complex(m) : std::move(m); }

/// Loops that are operations first, as they make functions; then complex numbers, so that composites of them are taken apart with them, and nothing after knows of them; then
/// composites, so that every later pass sees primitives alone; sharing after simplification, which makes more
/// nodes alike; removal last, since all three leave unused nodes behind.
const std::vector<TensorPass>& tensor_passes() {
  static const std::vector<TensorPass> list{
      {{"loops", "operations that repeat steps become while", false}, &loops},
      {{"split_complex", "complex numbers become pairs of their parts", false}, &split},
      {{"decompose", "composites become primitives", false}, &each_function<decompose>},
      {{"simplify", "views and conversions that do nothing are dropped, chains of reshapes merged", true}, &each_function<simplify>},
      {{"share", "equal operations on equal operands are computed once", true}, &each_function<share_common>},
      {{"remove_dead", "what no result depends on is dropped", true}, &each_function<remove_dead>},
  };
  return list;
}

class Lowerer {
 public:
  Lowerer(const ir::Module& m, const Options& o) : m_(m), o_(o) {}

  std::shared_ptr<Program> function(const ir::Function& f) {
    auto p = std::make_shared<Program>();
    p->name = f.name;
    slots_.assign(f.values.size(), -1);
    Program& program = *p;
    for (auto v : f.params) program.params.push_back(slot(program, f, v, Slot::Role::param));
    const Plan plan = fuse(f, !o_.disabled.count("fuse"));
    std::vector<bool> fixed(f.values.size(), false);  // depends on constants alone
    for (const auto& n : f.nodes)
      if (ir::name(n) == "constant" && !is_splat(n.attrs.get<ir::Literal>("value"))) {
        const auto s = slot(program, f, n.results[0], Slot::Role::constant);
        program.slots[static_cast<std::size_t>(s)].value = n.attrs.get<ir::Literal>("value");
        fixed[static_cast<std::size_t>(n.results[0])] = true;
      }
    const bool hoist = !o_.disabled.count("hoist");
    for (const auto& item : plan.items) item.control >= 0 ? control(program, f, f.nodes[static_cast<std::size_t>(item.control)]) : launch(program, f, item.group, fixed, hoist);
    results(program, f);
    plan_memory(program);
    return p;
  }

 private:
  SlotId slot(Program& p, const ir::Function& f, ValueId v, Slot::Role role) {
    p.slots.push_back({f.type(v), f.value(v).name, role, {}, -1});
    return slots_[static_cast<std::size_t>(v)] = static_cast<SlotId>(p.slots.size() - 1);
  }
  SlotId at(ValueId v) const {
    require(slots_[static_cast<std::size_t>(v)] >= 0, "a value that a step reads has memory");
    return slots_[static_cast<std::size_t>(v)];
  }

  void launch(Program& p, const ir::Function& f, const Group& g, std::vector<bool>& fixed, bool hoist) {
    Launch l{kernel(p, g), {}, {}};
    bool constant = hoist;
    for (auto v : g.inputs) {
      l.inputs.push_back(at(v));
      constant = constant && fixed[static_cast<std::size_t>(v)];
    }
    fixed[static_cast<std::size_t>(g.output)] = constant;
    l.outputs.push_back(slot(p, f, g.output, constant ? Slot::Role::hoisted : Slot::Role::temporary));
    (constant ? p.prelude : p.steps).emplace_back(std::move(l));
  }

  /// Kernels of one specification are one kernel, whatever the values are called.
  std::int32_t kernel(Program& p, const Group& g) {
    const auto key = ir::print(*g.spec);
    if (auto it = known_.find(key); it != known_.end()) {
      for (std::size_t k = 0; k < p.kernels.size(); ++k)
        if (p.kernels[k] == it->second) return static_cast<std::int32_t>(k);
      p.kernels.push_back(it->second);
      return static_cast<std::int32_t>(p.kernels.size() - 1);
    }
    const auto k = lower_kernel(g.spec, "k" + std::to_string(known_.size()), o_);
    known_.emplace(key, k);
    p.kernels.push_back(k);
    return static_cast<std::int32_t>(p.kernels.size() - 1);
  }

  /// A function is lowered once, however many nodes name it: else nested choices would cost 2^depth.
  std::int32_t callee(Program& p, const std::string& name) {
    auto& program = programs_[name];
    if (!program) {
      auto outer = std::move(slots_);
      program = function(*m_.find(name));
      slots_ = std::move(outer);
    }
    const auto at = std::ranges::find(p.callees, program);
    const auto index = at - p.callees.begin();
    if (at == p.callees.end()) p.callees.push_back(program);
    return static_cast<std::int32_t>(index);
  }

  void control(Program& p, const ir::Function& f, const ir::Node& n) {
    std::vector<SlotId> in, out;
    for (auto v : n.operands) in.push_back(at(v));
    for (auto v : n.results) out.push_back(slot(p, f, v, Slot::Role::temporary));
    if (ir::row(n.op).op_class == ir::OpClass::library) {
      p.steps.emplace_back(LibraryCall{alone(f, n), in, out});
      return;
    }
    auto text = [&](const char* which) { return n.attrs.get<std::string>(which); };
    if (ir::name(n) == "if") {
      const auto condition = in[0];
      in.erase(in.begin());
      const auto then = callee(p, text("then")), otherwise = callee(p, text("else"));
      p.steps.emplace_back(IfStep{condition, then, otherwise, in, out});
    } else if (ir::name(n) == "scan") {
      const auto body = callee(p, text("body"));
      p.steps.emplace_back(ScanStep{body, static_cast<std::size_t>(n.attrs.integer("carries")), n.attrs.flag("reverse"), in, out});
    } else {
      const auto condition = callee(p, text("cond")), body = callee(p, text("body"));
      p.steps.emplace_back(WhileStep{condition, body, in, out});
    }
  }

  /// The node as a function of its operands.
  static std::shared_ptr<const ir::Function> alone(const ir::Function& f, const ir::Node& n) {
    auto spec = std::make_shared<ir::Function>();
    spec->name = "library";
    ir::Builder b(*spec);
    b.at(n.where);
    std::vector<ValueId> operands;
    std::vector<ir::Type> types;
    for (auto v : n.operands) operands.push_back(b.param(f.type(v), "x" + std::to_string(operands.size())));
    for (auto v : n.results) types.push_back(f.type(v));
    b.results(b.add_typed(n.op, operands, n.attrs, types));
    return spec;
  }

  /// Each result has a slot of its own: a step writes it there, or it is copied.
  void results(Program& p, const ir::Function& f) {
    for (auto v : f.results) {
      auto& s = p.slots[static_cast<std::size_t>(at(v))];
      const bool taken = std::find(p.results.begin(), p.results.end(), at(v)) != p.results.end();
      if (s.role == Slot::Role::temporary && !taken) {
        s.role = Slot::Role::result;
        p.results.push_back(at(v));
        continue;
      }
      p.slots.push_back({f.type(v), f.value(v).name, Slot::Role::result, {}, -1});
      p.results.push_back(static_cast<SlotId>(p.slots.size() - 1));
      p.steps.emplace_back(Copy{at(v), p.results.back()});
    }
  }

  const ir::Module& m_;
  const Options& o_;
  std::vector<SlotId> slots_;
  std::map<std::string, std::shared_ptr<const kir::Kernel>> known_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;   ///< of the functions that nodes name
};

}  // namespace

std::vector<PassInfo> passes() {
  std::vector<PassInfo> r;
  for (const auto& p : tensor_passes()) r.push_back(p.info);
  r.push_back({"fuse", "nodes are grouped into kernels; off: one kernel a node", true});
  r.push_back({"hoist", "kernels of constants alone run once, at load", true});
  r.push_back({"schedule", "each group becomes a kernel by its template", false});
  r.push_back({"memory", "temporaries that never live together share memory", false});
  return r;
}

ir::Module optimize(ir::Module m, const Options& o) {
  for (const auto& pass : tensor_passes()) {
    if (pass.info.optional && o.disabled.count(pass.info.name)) continue;
    const auto start = std::chrono::steady_clock::now();
    const auto before = o.on_pass ? ir::print(m) : std::string();
    m = pass.run(std::move(m));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (o.on_pass) {
      ir::verify(m);
      o.on_pass(pass.info.name, m, seconds, ir::print(m) != before);
    }
  }
  return m;
}

std::shared_ptr<const Program> lower(ir::Module m, const Options& o) {
  for (const auto& v : m.entry().values)
    if (!v.type.is_concrete()) fail_input("%" + v.name + ": " + v.type.str() + " has a dimension without a size; bind it by giving inputs");
  ir::check_call_depth(m);
  std::vector<ir::Type> takes, gives;
  for (auto v : m.entry().params) takes.push_back(m.entry().type(v));
  for (auto v : m.entry().results) gives.push_back(m.entry().type(v));
  const ir::Module optimized = optimize(std::move(m), o);
  const auto program = Lowerer(optimized, o).function(optimized.entry());
  program->takes = std::move(takes);
  program->gives = std::move(gives);
  return program;
}

}  // namespace plumb::lowering

// plumb explain: any stage of a compilation, as text.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "backends/runtime/executor.h"
#include "ir/kernel/text.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "lowering/autodiff/autodiff.h"
#include "lowering/pipeline.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

using Stage = std::pair<std::string, std::string>;

/// Stages by name, in the order of a compilation. Passes that end in kernels show what they leave.
std::vector<Stage> stages() {
  std::vector<Stage> all{{"import", "the tensor program as it came in, sizes bound"}, {"grad", "that program with its gradients (plumb grad), which no compilation of it needs"}};
  for (const auto& p : lowering::passes()) all.emplace_back(p.name, (p.optional ? "after this pass (may be disabled): " : "after this pass: ") + p.what);
  for (const char* more : {"kernels", "plan", "timings", "llvm", "asm"}) {
    const std::string name = more;
    all.emplace_back(name, name == "kernels" ? "each kernel: its loops, its reductions and inverse maps, the operations that it implements" : name == "plan" ? "the steps of a run" : name == "timings" ? "each tensor-level pass, in seconds"
                               : name == "llvm" ? "LLVM IR of each kernel" : "assembly of each kernel");
  }
  return all;
}

std::string slots(const std::vector<lowering::SlotId>& ids) {
  std::string s;
  for (auto i : ids) s += (s.empty() ? "s" : ", s") + std::to_string(i);
  return s;
}

using Seen = std::set<const void*>;   ///< programs printed already: one that several nodes name is printed once

void print_plan(const lowering::Program& p, const std::string& indent, Seen& seen) {
  auto callee = [&](std::int32_t k, const char* what) {
    const auto& c = *p.callees[static_cast<std::size_t>(k)];
    const bool first = seen.insert(&c).second;
    std::cout << indent << "  " << what << ": @" << c.name << (first ? "\n" : ", as above\n");
    if (first) print_plan(c, indent + "    ", seen);
  };
  auto step = [&](const lowering::Step& s) {
    if (auto* l = std::get_if<lowering::Launch>(&s)) {
      const auto& k = *p.kernels[static_cast<std::size_t>(l->kernel)];
      std::cout << fmt::format("{}{} = {} [{}] ({})\n", indent, slots(l->outputs), k.name, k.schedule, slots(l->inputs));
    } else if (auto* c = std::get_if<lowering::Copy>(&s)) {
      std::cout << fmt::format("{}s{} = copy s{}\n", indent, c->to, c->from);
    } else if (auto* i = std::get_if<lowering::IfStep>(&s)) {
      std::cout << fmt::format("{}{} = if s{} ({})\n", indent, slots(i->outputs), i->condition, slots(i->inputs));
      callee(i->then, "then");
      callee(i->otherwise, "else");
    } else if (auto* call = std::get_if<lowering::LibraryCall>(&s)) {
      std::cout << fmt::format("{}{} = {} ({})\n", indent, slots(call->outputs), ir::name(call->spec->nodes[0]), slots(call->inputs));
    } else if (auto* scan = std::get_if<lowering::ScanStep>(&s)) {
      std::cout << fmt::format("{}{} = scan ({}), {} carried{}\n", indent, slots(scan->outputs), slots(scan->inputs), scan->carries, scan->reverse ? ", reverse" : "");
      callee(scan->body, "body");
    } else {
      const auto& w = std::get<lowering::WhileStep>(s);
      std::cout << fmt::format("{}{} = while ({})\n", indent, slots(w.outputs), slots(w.inputs));
      callee(w.condition, "cond");
      callee(w.body, "body");
    }
  };
  if (!p.prelude.empty()) std::cout << indent << "at load:\n";
  for (const auto& s : p.prelude) step(s);
  if (!p.prelude.empty()) std::cout << indent << "each run:\n";
  for (const auto& s : p.steps) step(s);
}

void print_memory(const lowering::Program& p, Seen& seen) {
  for (std::size_t k = 0; k < p.slots.size(); ++k) {
    const auto& s = p.slots[k];
    static constexpr const char* roles[] = {"parameter", "constant", "hoisted", "temporary", "result"};
    std::cout << fmt::format("s{} {} {}{}\n", k, roles[static_cast<int>(s.role)], s.type.str(), s.offset >= 0 ? fmt::format(" at {}", s.offset) : "");
  }
  std::cout << fmt::format("arena: {} bytes\n", p.arena_bytes);
  for (const auto& c : p.callees) {
    if (!seen.insert(c.get()).second) continue;
    std::cout << "\n@" << c->name << "\n";
    print_memory(*c, seen);
  }
}

/// Kernels of a program and its callees, each once.
void collect(const lowering::Program& p, std::vector<const kir::Kernel*>& to, Seen& seen) {
  if (!seen.insert(&p).second) return;
  for (const auto& k : p.kernels)
    if (seen.insert(k.get()).second) to.push_back(k.get());
  for (const auto& c : p.callees) collect(*c, to, seen);
}

struct Explained {
  ir::Module module;
  std::shared_ptr<backends::Backend> backend;
  lowering::Options options;
};

void print_stage(const std::string& stage, Explained e) {
  bool shown = false;
  e.options.on_pass = [&](const std::string& pass, const ir::Module& now, double seconds, bool changed) {
    if (stage == "timings") std::cout << fmt::format("{:12} {:.4f} s{}\n", pass, seconds, changed ? "" : " (unchanged)");
    if (stage != pass) return;
    shown = true;
    std::cout << (changed ? "" : "// (unchanged)\n") << ir::print(now);
  };
  if (!e.backend) {  // the reference has the tensor-level stages alone
    lowering::optimize(e.module, e.options);
    if (!shown && stage != "timings") fail_input("the reference compiles nothing, so it has no stage '" + stage + "'; name a target that does");
    return;
  }
  e.options.target = e.backend->facts();
  const auto program = lowering::lower(e.module, e.options);
  if (shown || stage == "timings") return;
  Seen seen;
  if (stage == "plan" || stage == "hoist") return print_plan(*program, "", seen);
  if (stage == "memory") return print_memory(*program, seen);
  std::vector<const kir::Kernel*> kernels;
  collect(*program, kernels, seen);
  if (stage == "llvm" || stage == "asm") {
    const backends::Session session(program, e.backend);
    for (const auto* k : kernels) std::cout << "; kernel " << k->name << ", schedule " << k->schedule << "\n" << session.code(*k, stage == "asm") << "\n";
    return;
  }
  for (const auto* k : kernels) {
    if (stage != "fuse") {
      std::cout << kir::print(*k) << "\n";
      continue;
    }
    ir::Function f = *k->spec;
    f.name = k->name;
    std::cout << ir::print(f) << "\n";
  }
}

}  // namespace

int explain_command(const Args& args) {
  po::options_description options("options");
  auto add = options.add_options();
  add("stage", po::value<std::string>()->default_value("list"), "a stage; `list` names them");
  add("target", po::value<std::string>()->default_value("cpu"), "a target; the reference has the tensor-level stages only");
  add("contract", po::value<std::string>()->default_value("relaxed"), "strict, relaxed or fast");
  add("dim", po::value<std::vector<std::string>>()->composing(), "NAME=SIZE of a named dimension");
  add("disable", po::value<std::vector<std::string>>()->composing(), "leave out an optional pass");
  add("random", po::value<std::string>()->default_value("0"), "seed that sizes other named dimensions");
  add("program", po::value<std::string>(), "FILE or folder");
  po::positional_options_description positional;
  positional.add("program", 1);
  po::variables_map given;
  if (!parse_options(command("explain"), args, options, positional, given)) return 0;
  auto stage = given["stage"].as<std::string>();
  if (stage == "fused") stage = "fuse";
  if (stage == "kernel") stage = "kernels";
  const auto all = stages();
  if (stage == "list") {
    for (const auto& [name, what] : all) std::cout << name << std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') << what << "\n";
    return 0;
  }
  if (std::none_of(all.begin(), all.end(), [&](const auto& s) { return s.first == stage; })) fail_input("there is no stage '" + stage + "'; --stage list names them");
  if (!given.count("program")) fail_input("which program? usage: plumb explain " + command("explain").synopsis);
  const Source source(given["program"].as<std::string>());
  Explained e;
  const auto target = given["target"].as<std::string>();
  e.backend = target == "cuda" ? backends::make_cuda_compiler() : make_target(target, 0);   // its code is to be seen on any machine
  e.options.contract = contract_from(given);
  e.options.disabled = disabled_from(given);
  e.module = source.bind(random_inputs(source, seed_from("--random", given["random"].as<std::string>()), dims_from(given)));
  if (stage == "import") {
    std::cout << ir::print(e.module);
    return 0;
  }
  if (stage == "grad") {
    std::cout << ir::print(lowering::gradient(e.module, {}));
    return 0;
  }
  print_stage(stage, std::move(e));
  return 0;
}

}  // namespace plumb::tools

// plumb explain: any stage of a compilation, as text.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "backends/runtime/executor.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "tools/cli.h"

namespace plumb::tools {
namespace {

void print_plan(const lowering::Program& p, const std::string& indent) {
  auto slots = [&](const std::vector<lowering::SlotId>& ids) {
    std::string s;
    for (auto i : ids) s += (s.empty() ? "s" : ", s") + std::to_string(i);
    return s;
  };
  auto step = [&](const lowering::Step& s) {
    if (auto* l = std::get_if<lowering::Launch>(&s)) {
      const auto& k = *p.kernels[static_cast<std::size_t>(l->kernel)];
      std::cout << fmt::format("{}{} = {} [{}] ({})\n", indent, slots(l->outputs), k.name, k.schedule, slots(l->inputs));
    } else if (auto* c = std::get_if<lowering::Copy>(&s)) {
      std::cout << fmt::format("{}s{} = copy s{}\n", indent, c->to, c->from);
    } else if (auto* i = std::get_if<lowering::IfStep>(&s)) {
      std::cout << fmt::format("{}{} = if s{} ({})\n", indent, slots(i->outputs), i->condition, slots(i->inputs));
      print_plan(*p.callees[static_cast<std::size_t>(i->then)], indent + "    then ");
      print_plan(*p.callees[static_cast<std::size_t>(i->otherwise)], indent + "    else ");
    } else {
      const auto& w = std::get<lowering::WhileStep>(s);
      std::cout << fmt::format("{}{} = while ({})\n", indent, slots(w.outputs), slots(w.inputs));
    }
  };
  if (!p.prelude.empty()) std::cout << indent << "at load:\n";
  for (const auto& s : p.prelude) step(s);
  if (!p.prelude.empty()) std::cout << indent << "each run:\n";
  for (const auto& s : p.steps) step(s);
}

void print_memory(const lowering::Program& p) {
  for (std::size_t k = 0; k < p.slots.size(); ++k) {
    const auto& s = p.slots[k];
    static constexpr const char* roles[] = {"parameter", "constant", "hoisted", "temporary", "result"};
    std::cout << fmt::format("s{} {} {} {}\n", k, roles[static_cast<int>(s.role)], s.type.str(), s.offset >= 0 ? fmt::format("at {}", s.offset) : "");
  }
  std::cout << fmt::format("arena: {} bytes\n", p.arena_bytes);
}

}  // namespace

int explain_command(const Args& args) {
  po::options_description options("options");
  options.add_options()("stage", po::value<std::string>()->default_value("list"), "a stage; `list` names them")("target", po::value<std::string>()->default_value("cpu"), "cpu")(
      "contract", po::value<std::string>()->default_value("relaxed"), "strict, relaxed or fast")("random", po::value<std::uint64_t>()->default_value(0), "seed that sizes named dimensions")("program", po::value<std::string>(), "FILE");
  po::positional_options_description positional;
  positional.add("program", 1);
  po::variables_map given;
  if (!parse_options(command("explain"), args, options, positional, given)) return 0;
  const auto stage = given["stage"].as<std::string>();
  std::vector<std::pair<std::string, std::string>> stages{{"import", "the tensor program as it came in, sizes bound"}};
  for (const auto& p : lowering::passes())
    if (p.name != "fuse" && p.name != "hoist" && p.name != "schedule") stages.emplace_back(p.name, p.name == "memory" ? p.what : "after this pass: " + p.what);
  stages.insert(stages.end(), {{"fused", "each kernel's specification"}, {"plan", "the steps of a run"}, {"timings", "each pass, in seconds"}, {"llvm", "LLVM IR"}, {"asm", "assembly"}});
  if (stage == "list") {
    for (const auto& [name, what] : stages) std::cout << name << std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') << what << "\n";
    return 0;
  }
  if (!given.count("program")) fail_input("which program? usage: plumb explain " + command("explain").synopsis);
  if (std::none_of(stages.begin(), stages.end(), [&](const auto& s) { return s.first == stage; })) fail_input("there is no stage '" + stage + "'; --stage list names them");
  const std::string path = given["program"].as<std::string>();
  const Source source(std::filesystem::is_directory(path) ? (std::filesystem::path(path) / "model.onnx").string() : path);
  std::vector<ir::Literal> inputs;
  for (const auto& t : source.random_types(given["random"].as<std::uint64_t>(), {})) inputs.push_back(random_literal(t, 0));
  const auto m = source.bind(inputs);
  if (stage == "import") {
    std::cout << ir::print(m);
    return 0;
  }
  const auto backend = make_target(given["target"].as<std::string>(), 0);
  if (!backend) fail_input("the reference compiles nothing; name a target that does");
  lowering::Options o;
  const auto contract = contract_from_name(given["contract"].as<std::string>());
  if (!contract) fail_input("--contract takes strict, relaxed or fast");
  o.contract = *contract;
  o.target = backend->facts();
  bool shown = false;
  o.on_pass = [&](const std::string& pass, const ir::Module& now, double seconds, bool changed) {
    if (stage == "timings") std::cout << fmt::format("{:12} {:.4f} s{}\n", pass, seconds, changed ? "" : " (unchanged)");
    if (stage != pass) return;
    shown = true;
    std::cout << (changed ? "" : "// (unchanged)\n") << ir::print(now);
  };
  const auto program = lowering::lower(m, o);
  if (shown || stage == "timings") return 0;
  if (stage == "plan") print_plan(*program, "");
  else if (stage == "memory") print_memory(*program);
  else if (stage == "fused")
    for (const auto& k : program->kernels) {
      ir::Function f = *k->spec;
      f.name = k->name;
      std::cout << "// " << k->schedule << "\n" << ir::print(f) << "\n";
    }
  else if (!program->kernels.empty()) std::cout << backends::Session(program, backend).code(*program->kernels[0], stage == "asm");
  return 0;
}

}  // namespace plumb::tools

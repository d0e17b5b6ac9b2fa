#include <map>
#include <optional>

#include "api/include/plumb/plumb.h"
#include "backends/runtime/executor.h"
#include "ir/import/onnx.h"
#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/check.h"
#include "verify/reference.h"

namespace plumb {
namespace {

ir::Literal to_literal(const Array& a) {
  const auto n = element_count(a.shape);
  if (n != static_cast<std::int64_t>(a.data.size())) fail_input("an array of shape " + ir::str(ir::to_shape(a.shape)) + " needs " + std::to_string(n) + " elements, not " + std::to_string(a.data.size()));
  return ir::Literal::of<float>(DType::f32, a.shape, a.data);
}

Array to_array(const ir::Literal& l) {
  if (l.dtype() != DType::f32) fail_unsupported("a result is " + l.type().str() + "; arrays hold f32");
  const auto e = l.extents();
  return {{e.begin(), e.end()}, {l.data<float>(), l.data<float>() + l.elements()}};
}

}  // namespace

struct Program::State {
  std::optional<ir::OnnxModel> onnx;
  ir::Module module;
  std::map<std::string, std::unique_ptr<backends::Session>> sessions;
  std::map<std::string, ir::Module> bound;
  std::shared_ptr<backends::Backend> cpu;

  const ir::Module& bind(const std::string& key, const std::vector<ir::Literal>& inputs) {
    if (auto it = bound.find(key); it != bound.end()) return it->second;
    std::vector<ir::Type> types;
    std::vector<const ir::Literal*> values;
    for (const auto& l : inputs) types.push_back(l.type()), values.push_back(&l);
    return bound.emplace(key, onnx ? onnx->import(types, values) : ir::specialize(module, ir::bind_symbols(module.entry(), types))).first->second;
  }
};

Program::Program(std::unique_ptr<State> state) : state_(std::move(state)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Program Program::parse(std::string_view text) {
  auto s = std::make_unique<State>();
  s->module = ir::parse(text);
  return Program(std::move(s));
}

Program Program::load(const std::string& path) {
  auto s = std::make_unique<State>();
  if (path.ends_with(".onnx")) s->onnx = ir::OnnxModel::load(path);
  else s->module = ir::parse_file(path);
  return Program(std::move(s));
}

std::vector<Array> Program::run(const std::vector<Array>& inputs, const RunOptions& options, CheckReport* report) {
  std::vector<ir::Literal> in;
  std::string key = options.contract;
  for (const auto& a : inputs) {
    in.push_back(to_literal(a));
    key += " " + in.back().type().str();
  }
  const auto& m = state_->bind(key, in);
  std::vector<ir::Literal> out;
  if (options.target == "reference") {
    out = verify::reference(m, in);
  } else {
    if (options.target != "cpu") fail_unsupported("target '" + options.target + "' is not in this version; use cpu or reference");
    const auto contract = contract_from_name(options.contract);
    if (!contract) fail_input("the contract is strict, relaxed or fast, not '" + options.contract + "'");
    if (!state_->cpu) state_->cpu = backends::make_cpu_backend();
    auto& session = state_->sessions[key];
    if (!session) {
      lowering::Options o;
      o.contract = *contract;
      o.target = state_->cpu->facts();
      session = std::make_unique<backends::Session>(lowering::lower(m, o), state_->cpu);
    }
    verify::CheckOptions check;
    check.mode = static_cast<verify::Check>(options.check);
    check.contract = *contract;
    check.write_repro = false;
    verify::KernelChecker checker(check);
    backends::RunOptions run;
    if (options.check != CheckMode::off) run.observer = &checker, run.poison = true;
    out = session->run(in, run);
    if (report) {
      const auto& r = checker.report();
      *report = {r.kernels, r.elements, r.decided, {}};
      for (const auto& f : r.failures) report->failures.push_back("kernel " + f.kernel + " at " + f.index + ": got " + f.got + ", allowed " + f.allowed);
    }
  }
  std::vector<Array> results;
  for (const auto& l : out) results.push_back(to_array(l));
  return results;
}

}  // namespace plumb

#include <algorithm>
#include <list>
#include <map>
#include <optional>

#include "api/include/plumb/program.h"
#include "backends/runtime/executor.h"
#include "ir/import/onnx.h"
#include "ir/tensor/result_sizes.h"
#include "ir/tensor/specialize.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/check.h"
#include "verify/reference.h"
#include "verify/simt_target.h"

namespace plumb {
namespace {

ir::Literal to_literal(const Array& a) {
  const auto n = element_count(a.shape);
  if (n != static_cast<std::int64_t>(a.data.size())) fail_input("an array of shape " + ir::str(ir::to_shape(a.shape)) + " needs " + std::to_string(n) + " elements, not " + std::to_string(a.data.size()));
  return ir::Literal::of<float>(DType::f32, a.shape, a.data);
}

Array to_array(const ir::Literal& value) {
  if (part_dtype(value.dtype()) != DType::f32) fail_unsupported("a result is " + value.type().str() + "; arrays hold f32, or c64 as pairs");
  const auto l = value.as_parts();
  const auto e = l.extents();
  return {{e.begin(), e.end()}, {l.data<float>(), l.data<float>() + l.elements()}};
}

}  // namespace

/// The program for inputs of some types, and, where their values decide its shapes or branches, for those values.
struct Bound {
  ir::Module module;
  std::vector<std::pair<std::size_t, ir::Literal>> fixed;   ///< input number and its value
  std::map<std::string, std::unique_ptr<backends::Session>> sessions;

  bool fits(const std::vector<ir::Literal>& inputs) const {
    return std::all_of(fixed.begin(), fixed.end(), [&](const auto& f) { return inputs[f.first] == f.second; });
  }
};

struct Program::State {
  std::optional<ir::OnnxModel> onnx;
  ir::Module module;
  std::map<std::string, std::list<Bound>> bound;   ///< by the inputs' types
  std::map<std::string, std::shared_ptr<backends::Backend>> targets;

  Bound& bind(const std::vector<ir::Literal>& inputs) {
    std::string key;
    for (const auto& l : inputs) key += " " + l.type().str();
    auto& list = bound[key];
    for (auto& b : list)
      if (b.fits(inputs)) return b;
    std::vector<ir::Type> types;
    std::vector<const ir::Literal*> values;
    for (const auto& l : inputs) types.push_back(l.type()), values.push_back(&l);
    if (!onnx) return list.emplace_back(Bound{ir::specialize(module, ir::bind_symbols(module.entry(), types)), {}, {}});
    std::vector<ir::Specialisation> specialised;
    Bound b{onnx->import(types, values, &specialised), {}, {}};
    for (const auto& s : specialised)
      for (std::size_t k = 0; k < inputs.size(); ++k)
        if (onnx->inputs()[k].name == s.input) b.fixed.emplace_back(k, s.value);
    return list.emplace_back(std::move(b));
  }

  /// Pairs of parts as the complex tensor that the input is declared to be.
  ir::Literal as_declared(std::size_t input, ir::Literal l) const {
    const auto& params = module.functions.empty() ? std::vector<ir::ValueId>() : module.entry().params;
    const bool complex = onnx ? input < onnx->inputs().size() && onnx->inputs()[input].dtype == DType::c64 : input < params.size() && module.entry().type(params[input]).dtype == DType::c64;
    if (!complex) return l;
    auto shape = l.type().shape;
    if (shape.empty() || shape.back() != ir::Dim(2)) fail_input("input " + std::to_string(input) + " is complex: its array needs a last axis of 2, the parts, not " + l.type().str());
    shape.pop_back();
    return l.viewed_as({DType::c64, shape});
  }

  std::shared_ptr<backends::Backend> target(const std::string& name) {
    auto& t = targets[name];
    if (!t && name == "cpu") t = backends::make_cpu_backend();
    if (!t && name == "simt") t = verify::make_simt_backend();
    if (!t) fail_unsupported("target '" + name + "' is not in this version; use cpu, simt or reference");
    return t;
  }
};

namespace {

std::string sentence(const verify::Failure& f) {
  return "kernel " + f.kernel + " by " + f.check + " at " + f.index + ": " + (f.allowed.empty() ? f.got : "got " + f.got + ", allowed " + f.allowed) + " (" + f.operations + ")";
}

CheckReport summary(const verify::Report& r) {
  CheckReport report{r.kernels, r.elements, r.decided, {}};
  for (const auto& f : r.failures) report.failures.push_back(sentence(f));
  return report;
}

}  // namespace

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

namespace {

ContractTerms terms_of(const RunOptions& o) {
  const auto contract = contract_from_name(o.contract);
  if (!contract) fail_input("the contract is strict, relaxed or fast, not '" + o.contract + "'");
  ContractTerms terms(*contract);
  for (const auto& word : o.allow)
    if (!grant(terms.allow, word)) fail_input("allow takes tf32, ftz and approximate, not '" + word + "'");
  if (terms.allow.any() && *contract != Contract::fast) fail_input("allow grants what " + o.contract + " does not: set the contract to fast");
  return terms;
}

}  // namespace

std::vector<Array> Program::run(const std::vector<Array>& inputs, const RunOptions& options, CheckReport* report) {
  std::vector<ir::Literal> in;
  for (const auto& a : inputs) in.push_back(state_->as_declared(in.size(), to_literal(a)));
  auto& program = state_->bind(in);
  const auto terms = terms_of(options);
  const auto arrays = [&](const std::vector<ir::Literal>& values) {
    std::vector<Array> r;
    for (const auto& l : ir::exact_results(program.module.entry(), values)) r.push_back(to_array(l));
    return r;
  };
  if (options.target == "reference") return arrays(verify::reference(program.module, in));
  const auto target = state_->target(options.target);
  auto& session = program.sessions[options.target + " " + options.contract];
  if (!session) {
    lowering::Options o;
    o.contract = terms.contract;
    o.target = target->facts();
    session = std::make_unique<backends::Session>(lowering::lower(program.module, o), target);
  }
  verify::CheckOptions check;
  check.mode = static_cast<verify::Check>(options.check);
  check.contract = terms.contract;
  check.allow = terms.allow;
  check.target = options.target;
  check.backend = target;
  check.write_repro = false;
  verify::KernelChecker checker(check);
  std::vector<ir::Literal> out;
  try {
    out = session->run(in, {&checker, options.check == Check::kernel || options.check == Check::full});
  } catch (const kir::ViolationError&) {
    if (report) *report = summary(checker.report());
    throw;
  }
  const auto found = summary(checker.report());
  if (report) *report = found;
  else if (!found.failures.empty()) throw std::runtime_error("a check failed: " + found.failures[0]);
  return arrays(out);
}

}  // namespace plumb

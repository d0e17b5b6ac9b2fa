#include "api/eager/op_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>

#include "backends/backend.h"
#include "ir/tensor/op_table.h"
#include "lowering/autodiff/autodiff.h"
#include "lowering/pipeline.h"
#include "verify/reference.h"
#include "verify/simt_target.h"

namespace plumb::eager {
namespace {

constexpr double code_seconds = 4e-3;   ///< about what making a kernel's code costs
constexpr double steps_per_second = 5e7;   ///< of the reference, at least

/// Scalar steps, about: elements of each result, times what each one sums.
double work_of(const ir::Module& m) {
  double work = 0;
  const auto& f = m.entry();
  for (const auto& n : f.nodes) {
    double most = 0;
    for (auto v : n.operands) most = std::max(most, static_cast<double>(f.type(v).elements()));
    for (auto v : n.results) most = std::max(most, static_cast<double>(f.type(v).elements()));
    const auto op_class = ir::row(n.op).op_class;
    if (op_class == ir::OpClass::contract && !n.results.empty()) {
      const auto lhs = static_cast<double>(f.type(n.operands[0]).elements()), rhs = static_cast<double>(f.type(n.operands[1]).elements()), out = static_cast<double>(f.type(n.results[0]).elements());
      most = std::max(most, std::sqrt(std::max(lhs * rhs * out, 0.0)) * 0.1);
    }
    work += most;
  }
  return work;
}

ir::Literal own_copy(const ir::Literal& l) {
  ir::Literal copy(l.type());
  if (l.bytes()) std::memcpy(copy.mutable_raw(), l.raw(), static_cast<std::size_t>(l.bytes()));
  return copy;
}

std::vector<std::string> names_of(const ir::Function& f, const std::vector<bool>& wanted) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (wanted[k]) names.push_back(f.value(f.params[k]).name);
  return names;
}

}  // namespace

std::shared_ptr<backends::Backend> backend_named(const std::string& target) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<backends::Backend>> all;
  const std::lock_guard lock(mutex);
  auto& b = all[target];
  if (b) return b;
  if (target == "cpu") b = backends::make_cpu_backend();
  else if (target == "simt") b = verify::make_simt_backend();
  else if (target == "cuda") b = backends::make_cuda_backend();
  else fail_unsupported("target '" + target + "' is not in this version; use cpu, cuda, simt or reference");
  return b;
}

OpProgram::OpProgram(ir::Module module, Execution execution) : module_(std::move(module)), execution_(std::move(execution)) {
  const auto& f = module_.entry();
  for (auto v : f.params) takes_.push_back(f.type(v));
  for (auto v : f.results) gives_.push_back(f.type(v));
  reference_only_ = execution_.target == "reference";
  work_ = work_of(module_);
  for (const auto& fn : module_.functions)
    for (const auto& n : fn.nodes)
      for (const auto& [key, value] : n.attrs.entries())
        if (const auto* l = std::get_if<ir::Literal>(&value)) constants_.push_back(l->raw());
}

bool OpProgram::worth_compiling() const {
  if (reference_only_) return false;
  return !execution_.warm_up || session_ || spent_ > code_seconds || work_ > steps_per_second * code_seconds;
}

void OpProgram::compile() {
  if (session_ || reference_only_) return;
  const auto backend = backend_named(execution_.target);
  lowering::Options options;
  options.contract = execution_.contract;
  options.target = backend->facts();
  try {
    session_ = std::make_unique<backends::Session>(lowering::lower(module_, options), backend);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::unsupported || !execution_.warm_up) throw;
    reference_only_ = true;   // what strict means is the reference's answer, which is to be had without the compiler
  }
}

std::vector<ir::Literal> OpProgram::results_of(std::span<const ir::Literal> inputs) {
  if (worth_compiling()) compile();
  if (session_) return execution_.watch ? execution_.watch(*session_, inputs) : session_->run(inputs);
  const auto start = std::chrono::steady_clock::now();
  auto results = verify::reference(module_, inputs);
  spent_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return results;
}

std::vector<ir::Literal> OpProgram::run(std::span<const ir::Literal> inputs) {
  const std::lock_guard lock(mutex_);
  auto results = results_of(inputs);
  // A result may be an input, a constant of the program or another result: the caller is to own what it gets.
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto same = [&](const ir::Literal& l) { return l.raw() == results[k].raw(); };
    if (std::find(constants_.begin(), constants_.end(), results[k].raw()) != constants_.end() || std::any_of(inputs.begin(), inputs.end(), same) || std::any_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(k), same)) results[k] = own_copy(results[k]);
  }
  return results;
}

const Pullback& OpProgram::pullback(const std::vector<bool>& wanted) {
  const std::lock_guard lock(mutex_);
  for (const auto& [mask, p] : pullbacks_)
    if (mask == wanted) return p;
  Pullback p;
  try {
    auto m = lowering::vjp(module_, {names_of(module_.entry(), wanted), false, false});
    auto& f = m.functions[static_cast<std::size_t>(&m.entry() - m.functions.data())];
    const auto uses = ir::use_counts(f);
    std::vector<ir::ValueId> kept;
    std::vector<std::size_t> float_results;
    for (std::size_t k = 0; k < gives_.size(); ++k)
      if (is_float(gives_[k].dtype)) float_results.push_back(k);
    for (std::size_t k = 0; k < f.params.size(); ++k) {
      if (!uses[static_cast<std::size_t>(f.params[k])]) continue;
      kept.push_back(f.params[k]);
      k < takes_.size() ? p.saved.push_back(k) : p.cotangents.push_back(float_results[k - takes_.size()]);
    }
    f.params = kept;
    p.program = std::make_shared<OpProgram>(std::move(m), execution_);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal) throw;
    p.error = e.what();
  }
  return pullbacks_.emplace_back(wanted, std::move(p)).second;
}

std::shared_ptr<OpProgram> OpProgram::pushforward(const std::vector<bool>& wanted) {
  const std::lock_guard lock(mutex_);
  for (const auto& [mask, p] : pushforwards_)
    if (mask == wanted) return p;
  auto m = lowering::jvp(module_, {names_of(module_.entry(), wanted), true, false});
  return pushforwards_.emplace_back(wanted, std::make_shared<OpProgram>(std::move(m), execution_)).second;
}

std::size_t OpProgram::kernels() {
  const std::lock_guard lock(mutex_);
  compile();
  return session_ ? session_->kernel_count() : 0;
}

}  // namespace plumb::eager

// Captures: which programs stand for a callable, when, and how they run.
#include "api/include/plumb/compile.h"

#include <algorithm>
#include <list>
#include <random>

#include "api/eager/dispatch.h"
#include "api/eager/trace.h"
#include "ir/tensor/verifier.h"
#include "verify/check.h"

namespace plumb {
namespace {

using eager::Trace;

struct Changed {
  Tensor tensor;           ///< its elements become
  std::size_t result;      ///< this result
};
struct Gradient {
  Tensor leaf;
  bool was_defined;                   ///< where the capture began, and where it may be run
  std::optional<std::size_t> result;  ///< the gradient afterwards; none: undefined
  bool replaced;                      ///< by the capture
};

/// A captured program and what it does beyond its results.
struct Capture {
  std::string key;
  std::shared_ptr<eager::OpProgram> program;
  std::vector<eager::Captured> captured;
  std::vector<bool> differentiable;   ///< a flag a result of the callable
  std::vector<Changed> changed;
  std::vector<Gradient> gradients;
  std::vector<std::function<bool()>> guards;

  bool stands() const {
    for (const auto& g : gradients)
      if (g.leaf.grad().defined() != g.was_defined) return false;
    return std::all_of(guards.begin(), guards.end(), [](const auto& g) { return g(); });
  }
};

CheckReport summary(const verify::Report& r) {
  CheckReport report{r.kernels, r.elements, r.decided, {}};
  for (const auto& f : r.failures)
    report.failures.push_back("kernel " + f.kernel + " by " + f.check + " at " + f.index + ": " + (f.allowed.empty() ? f.got : "got " + f.got + ", allowed " + f.allowed) + " (" + f.operations + ")");
  return report;
}

ContractTerms terms_of(const CompileOptions& o, Here here) {
  const auto contract = contract_from_name(o.contract);
  if (!contract) eager::fail(here, "compile: the contract is strict, relaxed or fast, not '" + o.contract + "'");
  ContractTerms terms(*contract);
  for (const auto& word : o.allow)
    if (!grant(terms.allow, word)) eager::fail(here, "compile: allow takes tf32, ftz and approximate, not '" + word + "'");
  if (terms.allow.any() && *contract != Contract::fast) eager::fail(here, "compile: allow grants what " + o.contract + " does not: set the contract to fast");
  return terms;
}

bool on_released_tape(const Tensor& t) {
  const auto node = eager::edge_of(t).node;
  return node && node->released;
}

std::string key_of(const std::string& call, const std::vector<Tensor>& inputs, Here here) {
  std::string key = call + (eager::grad_enabled() ? "g" : "n");
  for (const auto& t : inputs) {
    eager::get(t, here, "a compiled function");
    key += " " + eager::describe(t) + (eager::requires_grad(t) ? "*" : "") + (t.impl()->weak ? "w" : "");
  }
  return key;
}

}  // namespace

struct CompiledFunction::State {
  CompileOptions options;
  Here here;
  ContractTerms terms;
  std::list<Capture> captures;
  CompileStatistics statistics;
  std::minstd_rand random{1};

  eager::Execution execution();
  Capture& capture(const std::string& key, const std::vector<Tensor>& inputs, const Body& body);
  std::vector<Tensor> execute(Capture& c, const std::vector<Tensor>& inputs);
};

/// Runs with checks where they are asked for.
eager::Execution CompiledFunction::State::execution() {
  eager::Execution e{options.target, terms.contract, false, {}};
  if (options.check == Check::off || options.target == "reference") return e;
  e.watch = [this](backends::Session& session, std::span<const ir::Literal> inputs) {
    if (options.sample_rate < 1 && std::uniform_real_distribution<>()(random) >= options.sample_rate) return session.run(inputs);
    verify::CheckOptions check;
    check.mode = static_cast<verify::Check>(options.check);
    check.contract = terms.contract;
    check.allow = terms.allow;
    check.target = options.target;
    check.backend = eager::backend_named(options.target);
    check.write_repro = false;
    check.seed = static_cast<std::uint64_t>(statistics.checked++);
    verify::KernelChecker checker(check);
    auto out = session.run(inputs, {&checker, options.check == Check::kernel || options.check == Check::full});
    const auto report = summary(checker.report());
    if (options.on_report) options.on_report(report);
    else if (!report.failures.empty()) throw std::runtime_error(eager::place(here).str() + ": a check of the compiled function failed: " + report.failures[0]);
    return out;
  };
  return e;
}

Capture& CompiledFunction::State::capture(const std::string& key, const std::vector<Tensor>& inputs, const Body& body) {
  ++statistics.captures;
  statistics.last_reason = captures.empty() ? "the first call" : std::any_of(captures.begin(), captures.end(), [&](const auto& c) { return c.key == key; }) ? "gradients or modes are others than at the last capture" : "other dtypes, sizes or numbers: " + key;
  const auto trace = std::make_shared<Trace>(here);
  Capture c;
  c.key = key;
  std::vector<ir::ValueId> results;
  {
    const eager::Capturing capturing(trace);
    std::vector<Tensor> in;
    for (const auto& t : inputs) {
      const auto type = eager::type_of(*t.impl());
      in.push_back(eager::wrap_traced(trace, trace->builder.param(type, "x" + std::to_string(in.size())), type));
      in.back().impl()->requires_grad = eager::requires_grad(t);
      in.back().impl()->weak = t.impl()->weak;
    }
    for (const auto& y : body(in)) {
      eager::get(y, here, "a compiled function's result");
      results.push_back(trace->read(y, here));
      c.differentiable.push_back(eager::requires_grad(y) && !on_released_tape(y));
    }
    for (const auto& s : trace->changed) {
      const auto owner = std::find_if(trace->captured.begin(), trace->captured.end(), [&](const auto& k) { return (k.gradient ? k.tensor.impl()->grad : k.tensor.impl())->storage == s; });
      require(owner != trace->captured.end(), "what a capture changed is a parameter of it");
      if (!owner->gradient && owner->tensor.impl()->grad_fn.node) eager::fail(here, "compile: a captured tensor that was computed on the tape is changed in place; detach it, or return the new value");
      if (!owner->gradient) c.changed.push_back({owner->tensor, results.size()});
      else c.gradients.push_back({owner->tensor, true, results.size(), false});
      results.push_back(trace->current.at(s.get()));
    }
    for (const auto& [leaf, before] : trace->gradients) {
      const auto after = leaf->grad;
      if (after == before) {
        if (std::none_of(c.gradients.begin(), c.gradients.end(), [&](const auto& g) { return g.leaf.impl() == leaf; })) c.gradients.push_back({Tensor(leaf), before != nullptr, std::nullopt, false});
        continue;
      }
      std::erase_if(c.gradients, [&](const auto& g) { return g.leaf.impl() == leaf; });
      c.gradients.push_back({Tensor(leaf), before != nullptr, std::nullopt, true});
      if (!after) continue;
      c.gradients.back().result = results.size();
      results.push_back(trace->read(Tensor(after), here));
    }
    c.captured = trace->captured;
    c.guards = trace->guards;
  }
  trace->builder.results(results);
  trace->module.functions.push_back(trace->entry);
  trace->module.functions.back().name = "main";
  ir::verify(trace->module, ErrorKind::internal);
  c.program = std::make_shared<eager::OpProgram>(trace->module, execution());
  if (captures.size() >= 64) captures.pop_front();
  return captures.emplace_back(std::move(c));
}

std::vector<Tensor> CompiledFunction::State::execute(Capture& c, const std::vector<Tensor>& inputs) {
  auto all = inputs;
  for (const auto& k : c.captured) all.push_back(k.gradient ? k.tensor.grad() : k.tensor);
  const bool taped = std::any_of(c.differentiable.begin(), c.differentiable.end(), [](bool d) { return d; });
  std::vector<Tensor> out;
  {
    const AutoGradMode mode(taped && eager::grad_enabled());
    out = eager::run(c.program, "the compiled function", std::move(all), here);
  }
  const NoGradGuard off;
  for (auto& change : c.changed) {
    auto target = change.tensor;
    eager::write(target, out[change.result], "a compiled function", here);
  }
  for (auto& g : c.gradients) {
    if (g.result && !g.replaced) {
      auto target = g.leaf.grad();
      eager::write(target, out[*g.result], "a compiled function", here);
    } else if (g.replaced) {
      auto leaf = g.leaf;
      leaf.set_grad(g.result ? out[*g.result].detach() : Tensor(), here);
    }
  }
  out.resize(c.differentiable.size());
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!c.differentiable[k]) out[k] = out[k].detach();
  return out;
}

CompiledFunction::CompiledFunction(CompileOptions options, Here here) : state_(std::make_shared<State>()) {
  state_->terms = terms_of(options, here);
  if (options.target != "reference") eager::backend_named(options.target);   // a target that is not there is an error here
  state_->options = std::move(options);
  state_->here = here;
}

std::vector<Tensor> CompiledFunction::run(const std::string& call, const std::vector<Tensor>& inputs, const Body& body) const {
  auto& s = *state_;
  ++s.statistics.calls;
  const auto key = key_of(call, inputs, s.here);
  for (auto& c : s.captures)
    if (c.key == key && c.stands()) return s.execute(c, inputs);
  return s.execute(s.capture(key, inputs, body), inputs);
}

CompileStatistics CompiledFunction::statistics() const {
  auto r = state_->statistics;
  if (!state_->captures.empty()) r.kernels = static_cast<std::int64_t>(state_->captures.back().program->kernels());
  return r;
}

}  // namespace plumb

#include "api/include/plumb/transforms.h"

#include <algorithm>
#include <unordered_set>

#include "api/eager/dispatch.h"

namespace plumb {
namespace {

bool watched(const Tensor& t) { return eager::requires_grad(t) || !t.impl()->tangents.empty(); }

/// Another handle on the same elements and tangents, a leaf of its own.
Tensor leaf_of(const Tensor& t) {
  auto impl = std::make_shared<eager::TensorImpl>(*t.impl());
  impl->grad_fn = {};
  impl->accumulator.reset();
  impl->hooked = nullptr;
  impl->grad = nullptr;
  impl->retains_grad = false;
  impl->base = nullptr;
  impl->view = impl->view || !t.impl()->whole();
  impl->weak = false;
  impl->requires_grad = true;
  return Tensor(std::move(impl));
}

/// Whether the tape behind the roots reaches a leaf other than these.
bool reaches_others(const std::vector<Tensor>& roots, const std::vector<Tensor>& own) {
  std::unordered_set<const eager::Node*> seen;
  std::vector<const eager::Node*> stack;
  const auto push = [&](const eager::Edge& e) {
    if (e.node && seen.insert(e.node.get()).second) stack.push_back(e.node.get());
  };
  for (const auto& r : roots) push(eager::edge_of(r));
  while (!stack.empty()) {
    const auto* node = stack.back();
    stack.pop_back();
    if (const auto* leaf = dynamic_cast<const eager::Accumulate*>(node)) {
      const auto impl = leaf->leaf.lock();
      if (std::none_of(own.begin(), own.end(), [&](const auto& t) { return t.impl() == impl; })) return true;
    }
    for (const auto& e : node->inputs) push(e);
  }
  return false;
}

Tensor zeros_of(const Tensor& t, Here here) { return zeros_like(t, here); }

}  // namespace

std::vector<Tensor> Pullback::operator()(const std::vector<Tensor>& cotangents, Here here) const {
  const bool create = eager::grad_enabled() && (reaches_others(outputs_, inputs_) || std::any_of(cotangents.begin(), cotangents.end(), watched));
  std::vector<Tensor> outputs, seeds;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (k >= cotangents.size()) eager::fail(here, "vjp: " + std::to_string(cotangents.size()) + " cotangents are given for " + std::to_string(outputs_.size()) + " results");
    if (!eager::requires_grad(outputs_[k])) continue;
    outputs.push_back(outputs_[k]), seeds.push_back(cotangents[k]);
  }
  auto r = plumb::grad(outputs, inputs_, seeds, {.retain_graph = true, .create_graph = create, .allow_unused = true}, here);
  for (std::size_t k = 0; k < r.size(); ++k)
    if (!r[k].defined()) r[k] = zeros_of(inputs_[k], here);
  return r;
}

namespace transform {

std::vector<Tensor> leaves(const std::vector<Tensor>& inputs, Here here) {
  std::vector<Tensor> r;
  for (const auto& t : inputs) {
    eager::get(t, here, "a transform");
    if (!is_float(t.dtype())) {
      r.push_back(t);
      continue;
    }
    // A tensor on the tape stays on it: the transform's own leaf is then an operation's result.
    r.push_back(eager::grad_enabled() && eager::requires_grad(t) ? t.clone(here) : leaf_of(t));
  }
  return r;
}

std::vector<Tensor> gradients(const Tensor& output, const std::vector<Tensor>& inputs, Here here) {
  eager::get(output, here, "grad");
  if (output.numel() != 1 || !is_float(output.dtype())) eager::fail(here, "grad: the function gave " + eager::describe(output) + "; a gradient is of one float: reduce it (sum, mean), or use jacobian or vjp");
  if (!is_float(inputs[0].dtype())) eager::fail(here, "grad: only floats have gradients, and the argument is " + eager::describe(inputs[0]));
  if (!eager::requires_grad(output)) return {zeros_of(inputs[0], here)};
  const bool create = eager::grad_enabled() && reaches_others({output}, inputs);
  auto r = plumb::grad({output}, inputs, {}, {.retain_graph = true, .create_graph = create, .allow_unused = true}, here);
  for (std::size_t k = 0; k < r.size(); ++k)
    if (!r[k].defined()) r[k] = zeros_of(inputs[k], here);
  return r;
}

std::vector<Tensor> settled(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  if (reaches_others(outputs, inputs)) return outputs;
  std::vector<Tensor> r;
  for (const auto& o : outputs) {
    auto impl = std::make_shared<eager::TensorImpl>(*o.impl());
    impl->grad_fn = {};
    impl->requires_grad = false;
    r.emplace_back(std::move(impl));
  }
  return r;
}

std::pair<std::vector<Tensor>, std::vector<Tensor>> forward(const Body& f, const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents, Here here) {
  const eager::ForwardLevel own;
  const int level = own.number;
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < primals.size(); ++k) {
    eager::get(primals[k], here, "jvp"), eager::get(tangents[k], here, "jvp");
    if (!is_float(primals[k].dtype())) eager::fail(here, "jvp: only floats have tangents, and argument " + std::to_string(k) + " is " + eager::describe(primals[k]));
    if (eager::type_of(*primals[k].impl()) != eager::type_of(*tangents[k].impl())) eager::fail(here, "jvp: the tangent of " + eager::describe(primals[k]) + " has its dtype and sizes; this is " + eager::describe(tangents[k]));
    auto impl = std::make_shared<eager::TensorImpl>(*primals[k].impl());
    if (impl->requires_grad) impl->grad_fn = eager::edge_of(primals[k]);
    impl->tangents.push_back({level, tangents[k]});
    in.emplace_back(std::move(impl));
  }
  std::pair<std::vector<Tensor>, std::vector<Tensor>> r;
  for (const auto& y : f(in)) {
    eager::get(y, here, "jvp");
    auto impl = std::make_shared<eager::TensorImpl>(*y.impl());
    Tensor tangent;
    for (const auto& u : impl->tangents)
      if (u.level == level) tangent = u.value;
    std::erase_if(impl->tangents, [&](const auto& u) { return u.level == level; });
    r.first.emplace_back(std::move(impl));
    r.second.push_back(tangent.defined() ? tangent : zeros_of(r.first.back(), here));
  }
  return r;
}

Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, Here here) {
  const auto in = leaves({x}, here);
  const auto y = f(in[0]);
  eager::get(y, here, "jacobian");
  auto sizes = y.sizes();
  sizes.insert(sizes.end(), in[0].impl()->sizes.begin(), in[0].impl()->sizes.end());
  if (!eager::requires_grad(y) || y.numel() == 0) return zeros(sizes, x.dtype(), here);
  const Pullback pull({y}, in);
  const auto flat = eye(y.numel(), y.dtype(), here);
  std::vector<Tensor> rows;
  for (std::int64_t k = 0; k < y.numel(); ++k) rows.push_back(pull({flat.select(0, k, here).reshape(y.sizes(), here)}, here)[0]);
  return stack(rows, 0, here).reshape(sizes, here);
}

std::vector<Tensor> checkpointed(const Body& f, const std::vector<Tensor>& inputs, Here here) {
  const auto key = default_generator().state().clone(here);
  const CustomCall call{
      "a checkpoint", [&](AutogradContext& c) { return c.save_for_backward(inputs), f(inputs); },
      [f, key, here](AutogradContext& c, std::vector<Tensor> cotangents) {
        if (eager::grad_enabled()) fail_unsupported("checkpoint: derivatives of its derivative are not there; leave the checkpoint out for these", eager::place(here));
        auto now = default_generator().state();
        const auto after = now.clone(here);
        now.copy_(Operand(key, here));
        std::vector<Tensor> in, outputs, seeds;
        std::vector<eager::Edge> roots, captures;
        const AutoGradMode on(true);
        for (const auto& t : c.get_saved_variables()) in.push_back(is_float(t.dtype()) ? leaf_of(t) : t);
        outputs = f(in);
        now.copy_(Operand(after, here));
        for (std::size_t k = 0; k < outputs.size(); ++k)
          if (eager::requires_grad(outputs[k])) roots.push_back(eager::edge_of(outputs[k])), seeds.push_back(cotangents[k]);
        for (const auto& t : in) captures.push_back(is_float(t.dtype()) ? eager::edge_of(t) : eager::Edge{});
        return eager::run_backward(roots, std::move(seeds), {.captures = captures, .narrowed = false}, here);
      }};
  return call.run(inputs, here);
}

}  // namespace transform
}  // namespace plumb

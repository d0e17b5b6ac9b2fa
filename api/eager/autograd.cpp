#include "api/include/plumb/autograd.h"

#include <algorithm>
#include <cmath>

#include "api/eager/dispatch.h"

namespace plumb {
namespace {

Tensor ones_of(const Tensor& t, Here here) { return full(t.sizes(), Operand(1, here), t.dtype()); }

/// A custom function's place on the tape.
struct CustomNode final : eager::Node {
  using Node::Node;
  std::vector<Tensor> pull(std::vector<Tensor> cotangents) override {
    for (std::size_t k = 0; k < cotangents.size(); ++k)
      if (!cotangents[k].defined()) cotangents[k] = full(sizes[k], Operand(0, here), dtypes[k]);
    auto r = backward(*context, std::move(cotangents));
    if (r.size() != inputs.size()) eager::fail(here, name + ": backward gave " + std::to_string(r.size()) + " gradients for " + std::to_string(inputs.size()) + " inputs");
    for (std::size_t k = 0; k < r.size(); ++k)
      if (r[k].defined() && inputs[k].node && eager::type_of(*r[k].impl()) != types[k]) eager::fail(here, name + ": backward gave " + eager::describe(r[k]) + " as the gradient of input " + std::to_string(k) + ", which is " + types[k].str());
    return r;
  }
  void release() override { context = nullptr; }

  std::shared_ptr<AutogradContext> context;
  std::function<std::vector<Tensor>(AutogradContext&, std::vector<Tensor>)> backward;
  std::vector<Sizes> sizes;       ///< of the results,
  std::vector<DType> dtypes;
  std::vector<ir::Type> types;    ///< of the inputs
};

}  // namespace

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const std::vector<Tensor>& grad_outputs, const GradOptions& options, Here here) {
  if (!grad_outputs.empty() && grad_outputs.size() != outputs.size()) eager::fail(here, "grad: " + std::to_string(grad_outputs.size()) + " grad_outputs are given for " + std::to_string(outputs.size()) + " outputs");
  std::vector<eager::Edge> roots, captures;
  std::vector<Tensor> seeds;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto& o = outputs[k];
    eager::get(o, here, "grad");
    const bool given = !grad_outputs.empty() && grad_outputs[k].defined();
    if (!given && o.numel() != 1) eager::fail(here, "grad: output " + std::to_string(k) + ", " + eager::describe(o) + ", has more than one element; reduce it, or give grad_outputs");
    if (given && eager::type_of(*grad_outputs[k].impl()) != eager::type_of(*o.impl())) eager::fail(here, "grad: the gradient of output " + std::to_string(k) + " is " + eager::describe(grad_outputs[k]) + ", not " + eager::describe(o));
    roots.push_back(eager::edge_of(o));
    seeds.push_back(given ? grad_outputs[k] : ones_of(o, here));
  }
  for (const auto& i : inputs) {
    eager::get(i, here, "grad");
    captures.push_back(eager::edge_of(i));
    if (!captures.back().node && !options.allow_unused) eager::fail(here, "grad: input " + std::to_string(captures.size() - 1) + ", " + eager::describe(i) + ", does not require a gradient; set requires_grad before computing with it");
  }
  auto r = eager::run_backward(roots, std::move(seeds), {.retain_graph = options.retain_graph || options.create_graph, .create_graph = options.create_graph, .accumulate = false, .captures = captures}, here);
  for (std::size_t k = 0; k < r.size(); ++k)
    if (!r[k].defined() && !options.allow_unused) eager::fail(here, "grad: the outputs do not depend on input " + std::to_string(k) + ", " + eager::describe(inputs[k]) + "; allow_unused gives an undefined gradient then");
  return r;
}

bool is_grad_enabled() { return eager::grad_enabled(); }
AutoGradMode::AutoGradMode(bool on) : before_(eager::grad_enabled()) { eager::set_grad_enabled(on); }
AutoGradMode::~AutoGradMode() { eager::set_grad_enabled(before_); }
AnomalyGuard::AnomalyGuard() : before_(eager::anomaly_mode()) { eager::set_anomaly_mode(true); }
AnomalyGuard::~AnomalyGuard() { eager::set_anomaly_mode(before_); }

std::vector<Tensor> CustomCall::run(const std::vector<Tensor>& inputs, Here here) const {
  auto context = std::make_shared<AutogradContext>();
  std::vector<eager::Edge> edges;
  bool any = false;
  for (const auto& t : inputs) {
    eager::get(t, here, name.c_str());
    const bool wanted = eager::grad_enabled() && is_float(t.dtype()) && eager::requires_grad(t);
    context->wanted_.push_back(wanted);
    edges.push_back(wanted ? eager::edge_of(t) : eager::Edge{});
    any = any || wanted;
    if (!t.impl()->tangents.empty()) fail_unsupported(name + ": a custom function has no forward mode; write it with Plumb's operations to differentiate it by jvp", eager::place(here));
  }
  std::vector<Tensor> out;
  {
    const NoGradGuard off;
    out = forward(*context);
  }
  if (!any) return out;
  auto node = std::make_shared<CustomNode>(name, here, out.size());
  node->inputs = std::move(edges);
  node->context = context;
  node->backward = backward;
  for (const auto& t : inputs) node->types.push_back(eager::type_of(*t.impl()));
  for (std::size_t k = 0; k < out.size(); ++k) {
    node->sizes.push_back(out[k].sizes());
    node->dtypes.push_back(out[k].dtype());
    out[k] = out[k].detach();   // what forward returned may be an input
    if (is_float(out[k].dtype())) out[k].impl()->grad_fn = {node, k};
  }
  return out;
}

}  // namespace plumb

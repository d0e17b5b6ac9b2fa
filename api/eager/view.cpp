// Views and changes in place: what shares memory, and what the tape and captures are told of it.
#include <algorithm>

#include "api/eager/dispatch.h"
#include "api/eager/trace.h"

namespace plumb::eager {
namespace {

std::string geometry(const Sizes& sizes, const Sizes& strides, std::int64_t offset) {
  return key_of(attrs({{"size", ir::Ints(sizes)}, {"strides", ir::Ints(strides)}, {"offset", offset}}));
}

/// A write to part of a tensor, for the tape alone: the owner is from now on what the write made of it.
void record_write(const Tensor& view, const Tensor& value, std::string_view name, Here here) {
  const auto& i = *view.impl();
  const Tensor owner(i.base);
  const Tensor inputs[] = {owner, value};
  const auto program = program_of(name, "write" + geometry(i.sizes, i.strides, i.offset), inputs, [&](ir::Builder& b, const Values& in) { return Values{strided_write(b, in[0], in[1], i.sizes, i.strides, i.offset)}; }, here);
  if (auto node = record(program, std::string(name), inputs, here)) i.base->grad_fn = {node, 0};
}

void check_target(const Tensor& target, std::string_view name, Here here) {
  const auto& i = *target.impl();
  if (overlaps_itself(i)) fail(here, std::string(name) + ": " + describe(target) + " has several indices for one element (it was expanded), so a change in place has no meaning; clone it first");
  if (!grad_enabled()) return;
  const bool leaf = i.requires_grad && !i.grad_fn.node;
  const bool of_leaf = i.view && i.base && i.base->requires_grad && !i.base->grad_fn.node;
  if (leaf || of_leaf) fail(here, std::string(name) + ": " + (leaf ? "a leaf that requires a gradient" : "a view of a leaf that requires a gradient") + " (" + describe(target) + ") is changed in place; do it under plumb::NoGradGuard, or out of place");
}

Tensor fitted(const Tensor& target, const Tensor& value, std::string_view name, Here here) {
  const auto type = type_of(*target.impl());
  if (type_of(*value.impl()) == type) return value;
  if (is_complex(value.dtype()) && !is_complex(type.dtype)) fail(here, std::string(name) + ": complex numbers do not fit into " + type.str() + "; take their real part");
  const auto shape = ir::broadcast_shapes(type_of(*value.impl()).shape, type.shape);
  if (!std::holds_alternative<ir::Shape>(shape) || std::get<ir::Shape>(shape) != type.shape)
    fail(here, std::string(name) + ": the result is " + describe(value) + ", which does not broadcast to " + type.str() + "; a change in place keeps the sizes");
  return call(name, "fit" + type.str(), {value}, here, [&](ir::Builder& b, const Values& in) { return Values{b.broadcast_to(b.convert(in[0], type.dtype), type.shape)}; }).at(0);
}

}  // namespace

Tensor view(std::string_view name, const std::string& key, const Tensor& x, Geometry to, Build build, Here here) {
  auto v = view_of(x, std::move(to.sizes), std::move(to.strides), to.offset);
  auto& i = *v.impl();
  for (const auto& u : x.impl()->tangents) i.tangents.push_back({u.level, call(name, key, {u.value}, here, build).at(0)});
  auto* trace = active_trace();
  if (!trace && !(grad_enabled() && is_float(x.dtype()) && requires_grad(x))) return v;
  const auto program = program_of(name, key, {&x, 1}, build, here);
  if (trace) {
    const ir::ValueId in[] = {trace->read(x, here)};
    i.cached = trace->append(program->module(), in, here).at(0);
    i.cached_in = trace->serial;
    i.cached_version = i.storage->version;
  }
  if (auto node = record(program, std::string(name), {&x, 1}, here)) i.grad_fn = {node, 0};
  return v;
}

void write(Tensor& target, const Tensor& given, std::string_view name, Here here) {
  check_target(target, name, here);
  auto value = fitted(target, given, name, here);
  auto& i = *target.impl();
  if (!value.impl()->tangents.empty() || !i.tangents.empty()) {
    if (i.view) fail_unsupported(std::string(name) + ": a view is changed in place under jvp; change the tensor itself, or compute out of place", place(here));
    i.tangents = value.impl()->tangents;
  }
  auto& storage = *i.storage;
  const bool taped = grad_enabled() && is_float(i.dtype) && (requires_grad(target) || (i.view && i.base && requires_grad(Tensor(i.base))) || requires_grad(value));
  if (taped && i.view && !i.base) fail_internal("a tensor that the tape keeps is changed in place");
  const auto kept = taped ? save(value) : Saved{};
  const Tensor recorded = kept.tensor;
  if (auto* trace = active_trace()) {
    trace->write(target, trace->read(value, here), here);
  } else {
    if (storage.trace) fail(here, std::string(name) + ": the tensor is a value of a capture that ended; return it from the captured function");
    const bool shared = value.impl()->storage == i.storage;
    store(i, shared ? copy_of(*value.impl()) : literal_of(*value.impl()));
  }
  if (taped) {
    if (i.view) record_write(target, recorded, name, here);
    else i.grad_fn = edge_of(recorded);
    ++storage.graph_version;
  }
  ++storage.version;
  storage.changed = here;
}

}  // namespace plumb::eager

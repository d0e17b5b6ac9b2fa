// Tensor: what it is, its elements, its place on the tape.
#include "api/include/plumb/tensor.h"

#include <cmath>
#include <cstring>
#include <ostream>

#include "api/eager/dispatch.h"
#include "api/eager/trace.h"
#include "ir/scalar/storage.h"

namespace plumb {
namespace {

using eager::get;

/// Elements can be looked at: they are in memory, and stay there.
void need_memory(const Tensor& t, Here here, const char* what) {
  const auto* trace = eager::active_trace();
  const auto& s = *get(t, here, what).storage;
  if (s.trace || (trace && s.birth <= trace->started))
    eager::fail(here, std::string(what) + ": the value is not known while a function is captured" + (s.trace ? "" : ", where it may be another at each call") + "; compute with the tensor, select with plumb::where, or do this outside of plumb::compile");
}

}  // namespace

std::string dtype_name(DType dtype) { return std::string(name(dtype)); }
std::int64_t itemsize(DType dtype) { return byte_size(dtype); }

DType Tensor::dtype() const { return get(*this, Here::current(), "dtype").dtype; }
Sizes Tensor::sizes() const { return get(*this, Here::current(), "sizes").sizes; }
Sizes Tensor::strides() const { return get(*this, Here::current(), "strides").strides; }
std::int64_t Tensor::dim() const { return static_cast<std::int64_t>(get(*this, Here::current(), "dim").sizes.size()); }
std::int64_t Tensor::numel() const { return eager::count(get(*this, Here::current(), "numel").sizes); }
std::int64_t Tensor::size(std::int64_t d, Here here) const {
  const auto& s = get(*this, here, "size").sizes;
  if (s.empty()) eager::fail(here, "size: a tensor of rank 0 has no axes");
  return s[static_cast<std::size_t>(eager::wrap_axis(d, dim(), here, "size"))];
}
bool Tensor::is_contiguous() const { return eager::contiguous(get(*this, Here::current(), "is_contiguous")); }
bool Tensor::is_floating_point() const { return is_float(dtype()); }
bool Tensor::is_complex() const { return plumb::is_complex(dtype()); }
bool Tensor::is_view() const { return get(*this, Here::current(), "is_view").view; }

double Tensor::item_real(Here here) const {
  need_memory(*this, here, "item");
  if (numel() != 1) eager::fail(here, "item: " + eager::describe(*this) + " has " + std::to_string(numel()) + " elements, not 1; index one of them first");
  if (is_complex()) eager::fail(here, "item: " + eager::describe(*this) + " is complex; take plumb::real or plumb::imag of it");
  return load_element(impl_->dtype, impl_->storage->value.raw(), impl_->offset);
}

std::int64_t Tensor::item_integer(Here here) const {
  need_memory(*this, here, "item");
  if (numel() != 1 || !(is_integer(dtype()) || is_bool(dtype()))) {
    const double v = item_real(here);
    if (!(v > -0x1p63 && v < 0x1p63)) eager::fail(here, "item: " + std::to_string(v) + " does not fit into an integer");
    return static_cast<std::int64_t>(v);
  }
  return eager::literal_of(*impl_).int_at(0);
}

Tensor Tensor::materialised(DType to_dtype, Here here) const {
  need_memory(*this, here, "to_vector");
  return detach().to(to_dtype, here).contiguous(here);
}
void Tensor::copy_bytes(void* to_memory, Here here) const {
  need_memory(*this, here, "to_vector");
  const auto l = eager::literal_of(*impl_);
  if (l.bytes()) std::memcpy(to_memory, l.raw(), static_cast<std::size_t>(l.bytes()));
}
template <> std::vector<bool> Tensor::to_vector<bool>(Here here) const {
  const auto l = eager::literal_of(*materialised(kBool, here).impl_);
  std::vector<bool> v;
  for (std::int64_t i = 0; i < l.elements(); ++i) v.push_back(l.int_at(i) != 0);
  return v;
}

void* Tensor::data_ptr(Here here) const {
  need_memory(*this, here, "data_ptr");
  return static_cast<std::byte*>(impl_->storage->value.mutable_raw()) + impl_->offset * byte_size(impl_->dtype);
}
void* Tensor::raw(DType expected, Here here) const {
  if (get(*this, here, "data_ptr").dtype != expected) eager::fail(here, "data_ptr: the elements are " + dtype_name(dtype()) + ", not " + dtype_name(expected) + "; ask for that type, or convert with to()");
  return data_ptr(here);
}

bool Tensor::requires_grad() const { return eager::requires_grad(*this); }

Tensor& Tensor::requires_grad_(bool r, Here here) {
  get(*this, here, "requires_grad_");
  if (r && !is_floating_point()) eager::fail(here, "requires_grad_: only floats have gradients, and this is " + eager::describe(*this));
  if (!r && impl_->grad_fn.node) eager::fail(here, "requires_grad_(false): this tensor was computed; use detach()");
  if (!impl_->grad_fn.node) impl_->requires_grad = r;
  return *this;
}

bool Tensor::is_leaf() const { return !impl_->grad_fn.node; }

Tensor Tensor::grad() const {
  get(*this, Here::current(), "grad");
  if (auto* trace = eager::active_trace()) trace->note_gradient(impl_);
  return Tensor(impl_->grad);
}

void Tensor::set_grad(const Tensor& g, Here here) {
  get(*this, here, "set_grad");
  if (auto* trace = eager::active_trace()) trace->note_gradient(impl_);
  if (g.defined() && eager::type_of(*g.impl_) != eager::type_of(*impl_)) eager::fail(here, "set_grad: the gradient of " + eager::describe(*this) + " has its dtype and sizes; this is " + eager::describe(g));
  impl_->grad = g.impl_;
}

Tensor& Tensor::zero_grad() {
  set_grad({});
  return *this;
}

void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph, Here here) const {
  get(*this, here, "backward");
  if (!eager::requires_grad(*this)) eager::fail(here, "backward: this tensor depends on nothing that requires a gradient; set requires_grad on a leaf before computing, outside of NoGradGuard");
  Tensor seed = gradient;
  if (!seed.defined()) {
    if (numel() != 1) eager::fail(here, "backward: " + eager::describe(*this) + " has more than one element; reduce it to one (sum, mean), or pass the gradient of each");
    seed = eager::call("ones", eager::type_of(*impl_).str(), {}, here, [&](ir::Builder& b, const eager::Values&) { return eager::Values{b.broadcast_to(b.scalar(impl_->dtype, 1), ir::to_shape(impl_->sizes))}; }).at(0);
  } else if (eager::type_of(*seed.impl_) != eager::type_of(*impl_)) {
    eager::fail(here, "backward: the gradient of " + eager::describe(*this) + " has its dtype and sizes; this is " + eager::describe(seed));
  }
  eager::run_backward({eager::edge_of(*this)}, {seed}, {.retain_graph = retain_graph || create_graph, .create_graph = create_graph}, here);
}

Tensor Tensor::detach() const {
  get(*this, Here::current(), "detach");
  auto copy = std::make_shared<eager::TensorImpl>();
  copy->storage = impl_->storage;
  copy->dtype = impl_->dtype;
  copy->sizes = impl_->sizes;
  copy->strides = impl_->strides;
  copy->offset = impl_->offset;
  copy->view = impl_->view;
  copy->cached = impl_->cached;
  copy->cached_in = impl_->cached_in;
  copy->cached_version = impl_->cached_version;
  if (impl_->base) copy->base = Tensor(impl_->base).detach().impl_;   // the same owner's elements, without its tape
  return Tensor(std::move(copy));
}

void Tensor::retain_grad() {
  get(*this, Here::current(), "retain_grad");
  if (is_leaf() || impl_->retains_grad) return;
  impl_->retains_grad = true;
  register_hook([weak = std::weak_ptr(impl_)](const Tensor& g) {
    if (auto impl = weak.lock()) impl->grad = g.detach().clone().impl_;
    return Tensor();
  });
}

void Tensor::register_hook(std::function<Tensor(const Tensor&)> hook, Here here) {
  get(*this, here, "register_hook");
  const auto edge = eager::edge_of(*this);
  if (!edge.node) eager::fail(here, "register_hook: this tensor requires no gradient, so none will come");
  if (is_leaf()) impl_->hooked = edge.node;
  edge.node->hooks.emplace_back(edge.result, std::move(hook));
}

std::string Tensor::grad_fn() const {
  get(*this, Here::current(), "grad_fn");
  const auto edge = eager::edge_of(*this);
  if (is_leaf() || !edge.node) return "";
  return edge.node->name + " (" + eager::place(edge.node->here).str() + ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << t.str(); }

}  // namespace plumb

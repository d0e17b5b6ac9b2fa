// Tensors from nothing: constants, memory of the caller's, and random numbers.
#include <cstring>

#include "api/eager/dispatch.h"
#include "api/include/plumb/functions.h"
#include "ir/scalar/storage.h"

namespace plumb {
namespace {

using eager::attrs;
using eager::Values;
using ir::Builder;

Tensor finished(Tensor t, const TensorOptions& options, Here here) {
  if (options.requires_grad()) t = t.detach().requires_grad_(true, here);
  return t;
}

ir::Shape checked(const Sizes& sizes, Here here, const char* name) {
  for (auto s : sizes)
    if (s < 0) eager::fail(here, std::string(name) + ": a size is " + std::to_string(s) + "; sizes are at least 0");
  return ir::to_shape(sizes);
}

Tensor filled(const char* name, const Sizes& sizes, double value, const TensorOptions& options, Here here) {
  const ir::Type type{options.dtype().value_or(DType::f32), checked(sizes, here, name)};
  return finished(eager::call(name, type.str(), {}, here, [&](Builder& b, const Values&) { return Values{b.broadcast_to(b.scalar(type.dtype, value), type.shape)}; }).at(0), options, here);
}

/// A random operation of the tensor IR on the next key.
Tensor drawn(const char* name, const char* op, const Sizes& sizes, ir::AttrMap a, DType dtype, const TensorOptions& options, Generator& g, Here here) {
  a.set("shape", checked(sizes, here, name));
  a.set("dtype", options.dtype().value_or(dtype));
  return finished(eager::call(name, eager::key_of(a), {g.next(here)}, here, [&](Builder& b, const Values& in) { return b.add(op, in, a); }).at(0), options, here);
}

}  // namespace

TensorData::TensorData(std::initializer_list<TensorData> parts) : sizes_{static_cast<std::int64_t>(parts.size())}, kind_(parts.size() ? Kind::boolean : Kind::real) {
  for (const auto& p : parts) {
    if (&p == parts.begin()) sizes_.insert(sizes_.end(), p.sizes_.begin(), p.sizes_.end());
    ragged_ = ragged_ || p.ragged_ || !std::equal(sizes_.begin() + 1, sizes_.end(), p.sizes_.begin(), p.sizes_.end());
    kind_ = std::max(kind_, p.kind_);
    reals_.insert(reals_.end(), p.reals_.begin(), p.reals_.end());
    integers_.insert(integers_.end(), p.integers_.begin(), p.integers_.end());
  }
}

Tensor tensor(const TensorData& data, const TensorOptions& options, Here here) {
  if (data.ragged_) eager::fail(here, "tensor: the rows in the braces differ in length or depth; each level's parts must have the same sizes");
  const bool integral = data.kind_ != TensorData::Kind::real;
  const auto dtype = options.dtype().value_or(data.kind_ == TensorData::Kind::boolean ? DType::boolean : integral ? DType::i64 : DType::f32);
  ir::Literal l(ir::Type{dtype, ir::to_shape(data.sizes_)});
  for (std::size_t k = 0; k < data.reals_.size(); ++k) {
    const auto i = static_cast<std::int64_t>(k);
    if (integral && (dtype == DType::i64 || dtype == DType::u64)) l.mutable_data<std::int64_t>()[k] = data.integers_[k];
    else store_element(dtype, l.mutable_raw(), i, data.reals_[k]);
  }
  return finished(eager::wrap(std::move(l)), options, here);
}

Tensor from_blob(void* data, const Sizes& sizes, const TensorOptions& options, std::function<void(void*)> release, Here here) {
  const ir::Type type{options.dtype().value_or(DType::f32), checked(sizes, here, "from_blob")};
  if (!data && type.elements() > 0) eager::fail(here, "from_blob: the pointer is null");
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(byte_size(part_dtype(type.dtype))) != 0) eager::fail(here, "from_blob: the pointer is not aligned to an element of " + dtype_name(type.dtype));
  std::shared_ptr<void> owner;
  if (release) owner = std::shared_ptr<void>(data, std::move(release));
  return finished(eager::wrap(ir::Literal::alias(type, data, std::move(owner))), options, here);
}

Tensor zeros(const Sizes& sizes, const TensorOptions& options, Here here) { return filled("zeros", sizes, 0, options, here); }
Tensor ones(const Sizes& sizes, const TensorOptions& options, Here here) { return filled("ones", sizes, 1, options, here); }
Tensor empty(const Sizes& sizes, const TensorOptions& options, Here here) { return filled("empty", sizes, 0, options, here); }
Tensor zeros_like(const Tensor& t, Here here) { return filled("zeros_like", eager::get(t, here, "zeros_like").sizes, 0, t.dtype(), here); }
Tensor ones_like(const Tensor& t, Here here) { return filled("ones_like", eager::get(t, here, "ones_like").sizes, 1, t.dtype(), here); }

Tensor full(const Sizes& sizes, const Operand& value, const TensorOptions& options) {
  const auto v = eager::tensor_of(value);
  eager::get(v, value.here(), "full");
  const auto kind = v.dtype() == DType::f64 && v.impl()->weak ? DType::f32 : v.dtype();
  const ir::Type type{options.dtype().value_or(kind), checked(sizes, value.here(), "full")};
  return finished(eager::call("full", type.str(), {v}, value.here(), [&](Builder& b, const Values& in) { return Values{b.broadcast_to(b.convert(in[0], type.dtype), type.shape)}; }).at(0), options, value.here());
}
Tensor full_like(const Tensor& t, const Operand& value) { return full(eager::get(t, value.here(), "full_like").sizes, value, t.dtype()); }

Tensor arange(std::int64_t end, const TensorOptions& options, Here here) { return arange(0, end, 1, options, here); }
Tensor arange(std::int64_t start, std::int64_t end, std::int64_t step, const TensorOptions& options, Here here) {
  if (step == 0) eager::fail(here, "arange: the step is 0");
  const auto n = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  const auto dtype = options.dtype().value_or(DType::i64);
  const ir::Shape shape{ir::Dim(std::max<std::int64_t>(n, 0))};
  auto t = eager::call("arange", ir::str(shape) + static_cast<char>(dtype), {eager::tensor_of(Operand(start, here)), eager::tensor_of(Operand(step, here))}, here, [&](Builder& b, const Values& in) {
    const auto i = b.op("iota", std::span<const ir::ValueId>(), attrs({{"dtype", DType::i64}, {"shape", shape}}));
    return Values{b.convert(b.op("add", {b.broadcast_to(in[0], shape), b.op("mul", {i, b.broadcast_to(in[1], shape)})}), dtype)};
  }).at(0);
  return finished(std::move(t), options, here);
}
Tensor linspace(double start, double end, std::int64_t steps, const TensorOptions& options, Here here) {
  if (steps < 0) eager::fail(here, "linspace: the number of steps is " + std::to_string(steps));
  // Computed in f64 from the nearer end, so that both ends are exact.
  ir::Literal l(ir::Type{options.dtype().value_or(DType::f32), {ir::Dim(steps)}});
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  for (std::int64_t i = 0; i < steps; ++i) store_element(l.dtype(), l.mutable_raw(), i, i < steps / 2 || steps == 1 ? start + step * static_cast<double>(i) : end - step * static_cast<double>(steps - 1 - i));
  return finished(eager::wrap(std::move(l)), options, here);
}
Tensor eye(std::int64_t n, const TensorOptions& options, Here here) {
  const auto rows = arange(n, {}, here);
  return finished(eq(Operand(rows.unsqueeze(1, here), here), Operand(rows, here)).to(options.dtype().value_or(DType::f32), here), options, here);
}

Generator::Generator(std::uint64_t seed) { manual_seed(seed); }

void Generator::manual_seed(std::uint64_t seed) {
  const std::uint64_t words[] = {seed, 0};
  const std::int64_t sizes[] = {2};
  auto fresh = eager::wrap(ir::Literal::of<std::uint64_t>(DType::u64, sizes, words));
  if (state_.defined()) state_.copy_(fresh);   // the same tensor: what was captured draws from it
  else state_ = fresh;
}

Tensor Generator::next(Here here) {
  auto key = state_.clone(here);
  auto next = eager::call("random state", "", {state_}, here, [](Builder& b, const Values& in) {
    const std::uint64_t one[] = {0, 1};
    const std::int64_t sizes[] = {2};
    return Values{b.op("add", {in[0], b.constant(ir::Literal::of<std::uint64_t>(DType::u64, sizes, one))})};
  }).at(0);
  eager::write(state_, next, "random state", here);
  return key;
}

Generator& default_generator() {
  static Generator g;
  return g;
}

Tensor rand(const Sizes& sizes, const TensorOptions& options, Generator& g, Here here) { return drawn("rand", "random_uniform", sizes, {}, DType::f32, options, g, here); }
Tensor randn(const Sizes& sizes, const TensorOptions& options, Generator& g, Here here) { return drawn("randn", "random_normal", sizes, {}, DType::f32, options, g, here); }
Tensor randint(std::int64_t low, std::int64_t high, const Sizes& sizes, const TensorOptions& options, Generator& g, Here here) {
  return drawn("randint", "randint", sizes, attrs({{"low", low}, {"high", high}}), DType::i64, options, g, here);
}
Tensor randperm(std::int64_t n, Generator& g, Here here) { return eager::apply1("randperm", {g.next(here)}, attrs({{"n", n}}), here); }
Tensor bernoulli(const Tensor& p, Generator& g, Here here) { return eager::apply1("bernoulli", {p, g.next(here)}, {}, here); }
Tensor multinomial(const Tensor& weights, std::int64_t samples, Generator& g, Here here) { return eager::apply1("multinomial", {weights, g.next(here)}, attrs({{"samples", samples}}), here); }

}  // namespace plumb

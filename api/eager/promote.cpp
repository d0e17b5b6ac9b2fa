#include "api/eager/promote.h"

#include <algorithm>

namespace plumb {

DType promote_types(DType a, DType b) {
  using enum DType;
  if (a == b) return a;
  if (is_bool(a)) return b;
  if (is_bool(b)) return a;
  if (is_complex(a) || is_complex(b)) {
    const auto wide = [](DType t) { return t == f64 || t == c128; };
    return wide(a) || wide(b) ? c128 : c64;
  }
  if (is_float(a) && is_float(b)) {
    if (is_narrow_float(a) && is_narrow_float(b)) return f32;
    return byte_size(a) > byte_size(b) ? a : b;
  }
  if (is_float(a)) return a;
  if (is_float(b)) return b;
  if (is_signed(a) == is_signed(b)) return byte_size(a) > byte_size(b) ? a : b;
  const auto s = is_signed(a) ? a : b, u = is_signed(a) ? b : a;
  if (byte_size(s) > byte_size(u)) return s;
  switch (byte_size(u)) {
    case 1: return i16;
    case 2: return i32;
    case 4: return i64;
    default: return f64;
  }
}

namespace eager {
namespace {

int rank_of_kind(DType t) { return is_bool(t) ? 0 : is_integer(t) ? 1 : is_float(t) ? 2 : 3; }

/// A lower priority's dtype counts only where its kind is higher.
std::optional<DType> combined(std::optional<DType> high, std::optional<DType> low) {
  if (!high || !low) return high ? high : low;
  if (rank_of_kind(*low) <= rank_of_kind(*high)) return high;
  return is_complex(*low) && is_float(*high) ? complex_dtype(*high == DType::f64 ? DType::f64 : DType::f32) : low;
}

std::string broadcast_fault(std::span<const Tensor> all) {
  ir::Shape shape;
  for (const auto& t : all) {
    auto next = ir::broadcast_shapes(shape, type_of(*t.impl()).shape);
    if (auto* why = std::get_if<std::string>(&next)) return *why;
    shape = std::get<ir::Shape>(next);
  }
  return {};
}

}  // namespace

DType meeting_dtype(std::span<const Tensor> tensors, Domain domain) {
  std::optional<DType> by[3];   // of rank 1 or more; of rank 0; numbers
  for (const auto& t : tensors) {
    const auto& i = *t.impl();
    auto& slot = by[i.weak ? 2 : i.sizes.empty() ? 1 : 0];
    const auto d = i.weak && is_float(i.dtype) ? DType::f32 : i.dtype;
    slot = slot ? promote_types(*slot, d) : d;
  }
  const auto r = *combined(combined(by[0], by[1]), by[2]);
  if (domain == Domain::floating && !is_float(r) && !is_complex(r)) return DType::f32;
  return domain == Domain::no_bool && is_bool(r) ? DType::i64 : r;
}

std::vector<Tensor> tensors_of(std::initializer_list<const Operand*> operands, const char* name) {
  std::vector<Tensor> r;
  for (const auto* o : operands) {
    r.push_back(tensor_of(*o));
    get(r.back(), o->here(), name);
  }
  return r;
}

Tensor meet(std::string_view name, std::string_view op, std::initializer_list<const Operand*> operands, Domain domain, const ir::AttrMap& attributes) {
  auto in = tensors_of(operands, std::string(name).c_str());
  const auto here = (*operands.begin())->here();
  const auto dtype = meeting_dtype(in, domain);
  const auto key = key_of(attributes) + static_cast<char>(dtype);
  return call(name, key, in, here, [&](ir::Builder& b, const Values& x) {
    if (auto why = broadcast_fault(in); !why.empty()) fail_input(why + "; sizes must be equal, or 1, from the last axis on: reshape or unsqueeze one of the operands");
    Values all;
    ir::Shape shape;
    for (auto v : x) shape = std::get<ir::Shape>(ir::broadcast_shapes(shape, b.type(v).shape));
    for (auto v : x) all.push_back(b.broadcast_to(b.convert(v, dtype), shape));
    return Values{b.op(op, all, attributes)};
  }).at(0);
}

Tensor float_map(std::string_view name, std::string_view op, const Operand& x, const ir::AttrMap& attributes) { return meet(name, op, {&x}, Domain::floating, attributes); }

ir::Ints axes_of(const Tensor& x, const Sizes& dims, Here here, const char* name) {
  ir::Ints axes;
  const auto rank = get(x, here, name).sizes.size();
  for (std::size_t d = 0; d < rank && dims.empty(); ++d) axes.push_back(static_cast<std::int64_t>(d));
  for (auto d : dims) {
    d = wrap_axis(d, static_cast<std::int64_t>(rank), here, name);
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) fail(here, std::string(name) + ": axis " + std::to_string(d) + " is named twice");
    if (rank > 0) axes.push_back(d);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

}  // namespace eager
}  // namespace plumb

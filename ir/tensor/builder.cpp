#include "ir/tensor/builder.h"

#include <cmath>
#include <variant>

#include "ir/scalar/storage.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir {
namespace {
std::string signature(OpCode code, const Function& f, std::span<const ValueId> operands) {
  std::string s = std::string(row(code).name) + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) s += (i ? ", " : "") + f.type(operands[i]).str();
  return s + ")";
}
}  // namespace

ValueId Builder::param(Type type, std::string_view name) {
  const auto id = static_cast<ValueId>(f_.values.size());
  f_.values.push_back({std::move(type), name.empty() ? "arg" + std::to_string(f_.params.size()) : std::string(name), -1});
  f_.params.push_back(id);
  return id;
}

std::vector<ValueId> Builder::add_typed(OpCode code, std::span<const ValueId> operands, AttrMap attrs, std::span<const Type> results) {
  Node n;
  n.op = code;
  n.operands.assign(operands.begin(), operands.end());
  n.attrs = std::move(attrs);
  n.where = where_;
  for (const auto& t : results) {
    const auto id = static_cast<ValueId>(f_.values.size());
    f_.values.push_back({t, std::to_string(id), static_cast<std::int32_t>(f_.nodes.size())});
    n.results.push_back(id);
  }
  f_.nodes.push_back(std::move(n));
  return f_.nodes.back().results;
}

std::vector<ValueId> Builder::add(std::string_view name, std::span<const ValueId> operands, AttrMap attrs) {
  const auto code = find_op(name);
  if (!code) fail_input("there is no operation '" + std::string(name) + "'", where_);
  if (auto wrong = complete_attrs(*code, attrs)) fail_input(signature(*code, f_, operands) + ": " + *wrong, where_);
  std::vector<Type> types;
  for (auto v : operands) types.push_back(f_.type(v));
  auto inferred = infer(*code, types, attrs);
  if (auto* why = std::get_if<std::string>(&inferred)) fail_input(signature(*code, f_, operands) + ": " + *why, where_);
  return add_typed(*code, operands, std::move(attrs), std::get<std::vector<Type>>(inferred));
}

ValueId Builder::op(std::string_view name, std::initializer_list<ValueId> operands, AttrMap attrs) {
  return add(name, std::span(operands.begin(), operands.size()), std::move(attrs)).at(0);
}
ValueId Builder::op(std::string_view name, std::span<const ValueId> operands, AttrMap attrs) { return add(name, operands, std::move(attrs)).at(0); }

ValueId Builder::constant(Literal value) {
  AttrMap a;
  a.set("value", std::move(value));
  return op("constant", {}, std::move(a));
}

Literal scalar_literal(DType dtype, double value) {
  Literal l(Type{dtype, {}});
  store_element(dtype, l.mutable_raw(), 0, value);
  return l;
}

ValueId Builder::scalar(DType dtype, double value) { return constant(scalar_literal(dtype, value)); }
ValueId Builder::splat_like(ValueId like, double value) {
  const Type t = type(like);
  return broadcast_to(scalar(t.dtype, value), t.shape);
}

ValueId Builder::convert(ValueId x, DType to) {
  if (type(x).dtype == to) return x;
  AttrMap a;
  a.set("dtype", to);
  return op("convert", {x}, std::move(a));
}

ValueId Builder::broadcast_to(ValueId x, const Shape& shape) {
  const Shape from = type(x).shape;
  if (from == shape) return x;
  if (from.size() > shape.size()) fail_input("cannot broadcast " + type(x).str() + " to " + str(shape) + ": the rank would fall", where_);
  Ints dims;
  for (std::size_t d = 0; d < from.size(); ++d) dims.push_back(static_cast<std::int64_t>(shape.size() - from.size() + d));
  AttrMap a;
  a.set("shape", shape);
  a.set("dims", std::move(dims));
  return op("broadcast", {x}, std::move(a));
}

ValueId Builder::reshape(ValueId x, const Shape& shape) {
  if (type(x).shape == shape) return x;
  AttrMap a;
  a.set("shape", shape);
  return op("reshape", {x}, std::move(a));
}

ValueId Builder::transpose(ValueId x, Ints perm) {
  AttrMap a;
  a.set("perm", std::move(perm));
  return op("transpose", {x}, std::move(a));
}

ValueId Builder::keep_dims(ValueId reduced, std::span<const std::int64_t> axes, const Shape& original, ValueId like) {
  Ints dims;
  for (std::size_t d = 0; d < original.size(); ++d)
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) dims.push_back(static_cast<std::int64_t>(d));
  AttrMap a;
  a.set("shape", type(like).shape);
  a.set("dims", std::move(dims));
  return op("broadcast", {reduced}, std::move(a));
}

std::variant<Shape, std::string> broadcast_shapes(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t k = 0; k < rank; ++k) {
    const Dim x = k < a.size() ? a[a.size() - 1 - k] : Dim(1);
    const Dim y = k < b.size() ? b[b.size() - 1 - k] : Dim(1);
    if (x == y || y == Dim(1)) out[rank - 1 - k] = x;
    else if (x == Dim(1)) out[rank - 1 - k] = y;
    else return "shapes " + str(a) + " and " + str(b) + " do not broadcast: " + x.str() + " against " + y.str();
  }
  return out;
}

ValueId Builder::binary(std::string_view name, ValueId x, ValueId y) {
  auto shape = broadcast_shapes(type(x).shape, type(y).shape);
  if (auto* why = std::get_if<std::string>(&shape)) fail_input(std::string(name) + ": " + *why, where_);
  const auto& s = std::get<Shape>(shape);
  return op(name, {broadcast_to(x, s), broadcast_to(y, s)});
}

}  // namespace plumb::ir

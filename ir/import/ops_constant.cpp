// Sources and what passes a value through: Constant, ConstantOfShape, Range, EyeLike, Shape, Size, Identity, NonZero.
#include <cmath>

#include "ir/import/families.h"
#include "ir/import/tensor_proto.h"
#include "ir/scalar/storage.h"

namespace plumb::ir::onnx_import {
namespace {

template <class T> Literal vector_literal(DType dtype, const std::vector<T>& values) {
  const std::int64_t n[] = {static_cast<std::int64_t>(values.size())};
  return Literal::of<T>(dtype, n, std::span<const T>(values));
}

void constant(NodeImport& n) {
  if (auto value = n.tensor("value")) return n.out(n.b.constant(*value));
  if (n.has_attr("value_int")) return n.out(n.b.constant(vector_literal<std::int64_t>(DType::i64, {n.integer("value_int")}).reshaped({})));
  if (n.has_attr("value_float")) return n.out(n.b.scalar(DType::f32, n.real("value_float", 0)));
  if (auto list = n.int_list("value_ints")) return n.out(n.b.constant(vector_literal(DType::i64, *list)));
  if (auto list = n.real_list("value_floats")) return n.out(n.b.constant(vector_literal(DType::f32, std::vector<float>(list->begin(), list->end()))));
  for (const char* kind : {"sparse_value", "value_string", "value_strings"})
    if (n.has_attr(kind)) n.unsupported(std::string(kind) + " is not supported");
  n.fail("has no value");
}

/// A shape that the graph computes: each size within bounds.
Shape need_shape(NodeImport& n, std::size_t i) {
  Shape s;
  for (auto d : n.need_ints(i, "the shape")) {
    if (d < 0 || d > max_dim) n.fail("the shape has a dimension of size " + std::to_string(d));
    s.push_back(d);
  }
  return s;
}

void constant_of_shape(NodeImport& n) {
  auto value = n.tensor("value");
  if (value && value->elements() != 1) n.fail("value must have one element, not " + value->type().str());
  const auto scalar = n.b.constant(value ? value->reshaped({}) : scalar_literal(DType::f32, 0));
  n.out(n.broadcast(scalar, need_shape(n, 0), {}));
}

/// start + i * delta for i below max(ceil((limit - start) / delta), 0).
void range(NodeImport& n) {
  const Type t = n.type_in(0);
  for (std::size_t i = 0; i < 3; ++i)
    if (n.type_in(i).dtype != t.dtype || n.type_in(i).elements() != 1) n.fail("start, limit and delta must be scalars of one dtype");
  double steps;
  if (is_float(t.dtype)) {
    double v[3];
    for (std::size_t i = 0; i < 3; ++i) v[i] = load_element(t.dtype, n.need(n.in(i), "Range's bounds").raw(), 0);
    steps = std::ceil((v[1] - v[0]) / v[2]);
  } else {
    const auto start = n.need(n.in(0), "Range's start").int_at(0), limit = n.need(n.in(1), "Range's limit").int_at(0), delta = n.need(n.in(2), "Range's delta").int_at(0);
    if (delta == 0) n.fail("delta is 0");
    steps = std::ceil((static_cast<long double>(limit) - static_cast<long double>(start)) / static_cast<long double>(delta));
  }
  if (std::isnan(steps) || steps > 0x1p40) n.fail("the bounds give no finite number of steps");
  const Shape shape{static_cast<std::int64_t>(std::max(steps, 0.0))};
  const auto spread = [&](std::size_t i) { return n.broadcast(n.b.reshape(n.in(i), {}), shape, {}); };
  n.out(n.b.op("add", {n.b.op("mul", {n.iota(t.dtype, shape, 0), spread(2)}), spread(0)}));
}

void shape(NodeImport& n) {
  const Extents e = n.extents(n.in(0));
  const auto rank = static_cast<std::int64_t>(e.size());
  const auto clamped = [&](std::int64_t k) { return std::clamp<std::int64_t>(k < 0 ? k + rank : k, 0, rank); };
  const auto start = clamped(std::max(n.integer("start", 0), -rank)), end = clamped(std::clamp(n.integer("end", rank), -rank, rank));
  n.out(n.ints(start < end ? Ints(e.begin() + start, e.begin() + end) : Ints{}));
}
void size(NodeImport& n) { n.out(n.b.constant(vector_literal<std::int64_t>(DType::i64, {n.type_in(0).elements()}).reshaped({}))); }

void identity(NodeImport& n) { n.out(n.in(0)); }

void eye_like(NodeImport& n) {
  const Type t = n.type_in(0);
  if (t.rank() != 2) n.fail("takes a matrix, not " + t.str());
  const auto k = n.integer("k", 0);
  if (k < -max_dim || k > max_dim) n.fail("k is " + std::to_string(k));
  const DType to = n.has_attr("dtype") ? require_dtype(static_cast<int>(n.integer("dtype")), "EyeLike's result", n.where) : t.dtype;
  const auto row = n.iota(DType::i64, t.shape, 0), column = n.iota(DType::i64, t.shape, 1);
  n.out(n.b.convert(n.b.op("eq", {n.with("add", row, static_cast<double>(k)), column}), to));
}

/// Known values give a constant, of a size that other nodes can build on.
void non_zero(NodeImport& n) {
  const auto* known = n.known(n.in(0));
  if (!known) {
    const auto r = n.b.add("nonzero", std::array{n.in(0)});
    return n.out_padded(0, r[0], 1, r[1]);
  }
  const auto& l = *known;
  n.check_table(l.elements());
  const Extents e = l.extents();
  std::vector<Index> hits;
  Index at(e.size(), 0);
  for (std::int64_t i = 0; i < l.elements(); ++i, advance(at, e))
    if (load_element(l.dtype(), l.raw(), i) != 0) hits.push_back(at);
  Literal out(Type{DType::i64, {static_cast<std::int64_t>(e.size()), static_cast<std::int64_t>(hits.size())}});
  auto* p = out.mutable_data<std::int64_t>();
  for (std::size_t d = 0; d < e.size(); ++d)
    for (const auto& hit : hits) *p++ = hit[d];
  n.out(n.b.constant(std::move(out)));
}

constexpr OpEntry entries[] = {
    {"Constant", 0, 0, constant}, {"ConstantOfShape", 1, 1, constant_of_shape}, {"EyeLike", 1, 1, eye_like}, {"Identity", 1, 1, identity},
    {"NonZero", 1, 1, non_zero}, {"Range", 3, 3, range}, {"Shape", 1, 1, shape}, {"Size", 1, 1, size},
};
}  // namespace
std::span<const OpEntry> constant_family() { return entries; }
}  // namespace plumb::ir::onnx_import

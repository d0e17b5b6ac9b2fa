#include "ir/tensor/complex_parts.h"

#include <algorithm>
#include <cstring>

#include "ir/tensor/builder.h"
#include "ir/tensor/complex_functions.h"

namespace plumb::ir {
namespace {

ValueId operation(Builder& b, std::string_view op, std::vector<ValueId> operands, const AttrMap& a) { return b.op(op, std::span<const ValueId>(operands), a); }

/// One part of every element.
Literal part(const Literal& z, std::int64_t which) {
  const DType t = part_dtype(z.dtype());
  const auto size = static_cast<std::size_t>(byte_size(t));
  Literal l(Type{t, z.type().shape});
  for (std::int64_t i = 0; i < l.elements(); ++i) std::memcpy(l.mutable_data<char>() + i * byte_size(t), z.data<char>() + (2 * i + which) * byte_size(t), size);
  return l;
}

Parts sliced(Builder& b, Parts x, std::int64_t first, std::int64_t limit) {
  AttrMap a;
  Ints start(b.type(x.re).rank(), 0), end;
  for (const auto& d : b.type(x.re).shape) end.push_back(d.size());
  start.back() = first;
  end.back() = limit;
  a.set("start", start), a.set("limit", end);
  return {b.op("slice", {x.re}, a), b.op("slice", {x.im}, a)};
}
Parts joined(Builder& b, Parts x, Parts y) {
  AttrMap a;
  a.set("axis", static_cast<std::int64_t>(b.type(x.re).rank()) - 1);
  return {b.op("concat", {x.re, y.re}, a), b.op("concat", {x.im, y.im}, a)};
}

}  // namespace

Parts part_by_part(Builder& b, std::string_view op, std::span<const Parts> in, const AttrMap& a) {
  std::vector<ValueId> re, im;
  for (const auto& x : in) re.push_back(x.re), im.push_back(x.is_complex() ? x.im : x.re);
  return {operation(b, op, re, a), operation(b, op, im, a)};
}

Parts complex_convert(Builder& b, Parts x, DType to) {
  if (is_bool(to)) {
    const ValueId parts[] = {b.convert(x.re, to), b.convert(x.im, to)};
    return {b.op("or", parts)};
  }
  const auto re = b.convert(x.re, part_dtype(to));
  return {re, x.is_complex() ? b.convert(x.im, part_dtype(to)) : b.splat_like(re, 0)};
}

Parts complex_constant(Builder& b, const Literal& value) {
  const auto re = b.constant(part(value, 0));
  return {re, b.constant(part(value, 1))};
}

Parts complex_bilinear(Builder& b, std::string_view op, Parts x, Parts y, const AttrMap& a) {
  const auto re = b.op("sub", {operation(b, op, {x.re, y.re}, a), operation(b, op, {x.im, y.im}, a)});
  return {re, b.op("add", {operation(b, op, {x.re, y.im}, a), operation(b, op, {x.im, y.re}, a)})};
}

Parts complex_product(Builder& b, Parts x, const Ints& axes) {
  const Shape from = b.type(x.re).shape;
  Ints perm;
  Shape kept;
  std::int64_t n = 1;
  for (std::size_t d = 0; d < from.size(); ++d)
    if (std::ranges::find(axes, static_cast<std::int64_t>(d)) == axes.end()) perm.push_back(static_cast<std::int64_t>(d)), kept.push_back(from[d]);
  std::vector<std::int64_t> last(axes.begin(), axes.end());  // reduced axes go last, in row-major order
  std::sort(last.begin(), last.end());
  for (auto d : last) perm.push_back(d), n *= from[static_cast<std::size_t>(d)].size();
  Shape flat = kept;
  flat.push_back(n);
  auto arranged = [&](ValueId v) { return b.reshape(b.transpose(v, perm), flat); };
  Parts p{arranged(x.re), arranged(x.im)};
  if (n == 0) {
    Shape one = kept;
    one.push_back(1);
    const DType t = b.type(x.re).dtype;
    p = {b.broadcast_to(b.scalar(t, 1), one), b.broadcast_to(b.scalar(t, 0), one)};
  }
  for (; n > 1; n = (n + 1) / 2) {
    const auto half = (n + 1) / 2;
    const Parts first = sliced(b, p, 0, n - half), both[] = {first, sliced(b, p, half, n)};
    const auto product = complex_function(b, fn_id<scalar::Mul>, both);
    p = n % 2 == 0 ? product : joined(b, product, sliced(b, p, n - half, half));
  }
  return {b.reshape(p.re, kept), b.reshape(p.im, kept)};
}

ValueId interleaved(Builder& b, Parts x) {
  Shape shape = b.type(x.re).shape;
  AttrMap a;
  a.set("axis", static_cast<std::int64_t>(shape.size()));
  shape.push_back(1);
  const auto re = b.reshape(x.re, shape), im = b.reshape(x.im, shape);
  return b.op("concat", {re, im}, std::move(a));
}

Parts taken_apart(Builder& b, ValueId pairs) {
  const Shape shape = b.type(pairs).shape;
  auto one = [&](std::int64_t which) {
    Ints start(shape.size(), 0), limit;
    for (const auto& d : shape) limit.push_back(d.size());
    start.back() = which;
    limit.back() = which + 1;
    AttrMap a;
    a.set("start", start), a.set("limit", limit);
    return b.reshape(b.op("slice", {pairs}, std::move(a)), Shape(shape.begin(), shape.end() - 1));
  };
  const auto re = one(0);
  return {re, one(1)};
}

std::vector<Parts> complex_library(Builder& b, std::string_view op, std::span<const Parts> in, const AttrMap& a, std::initializer_list<bool> complex_results) {
  std::vector<ValueId> operands;
  for (const auto& x : in) operands.push_back(interleaved(b, x));
  AttrMap attrs = a;
  attrs.set("complex", true);
  std::vector<Parts> out;
  const auto made = b.add(op, operands, std::move(attrs));
  for (std::size_t k = 0; k < made.size(); ++k) out.push_back(complex_results.begin()[k] ? taken_apart(b, made[k]) : Parts{made[k]});
  return out;
}

}  // namespace plumb::ir

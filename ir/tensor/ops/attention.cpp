#include "ir/tensor/ops/distance.h"

namespace plumb::ir::ops {
namespace {

/// The axes before the last three: batches that all operands share.
Shape batches(const Type& t) { return Shape(t.shape.begin(), t.shape.end() - std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(t.rank()))); }
std::int64_t heads(const Type& t) { return t.rank() < 3 ? 1 : t.shape[t.rank() - 3].size(); }
std::int64_t from_end(const Type& t, std::size_t k) { return t.shape[t.rank() - k].size(); }
Shape scores_shape(const Type& query, const Type& key) {
  Shape s = query.shape;
  s[s.size() - 1] = key.shape[key.rank() - 2];
  return s;
}

/// One key's head for each of the query's: consecutive queries share it.
ValueId shared(const Words& w, ValueId x, std::int64_t wanted) {
  const Type t = w.type(x);
  if (heads(t) == wanted) return x;
  Shape apart, joined = t.shape;
  Ints dims;
  for (std::size_t d = 0; d < t.rank(); ++d) {
    dims.push_back(static_cast<std::int64_t>(apart.size()));
    apart.push_back(t.shape[d]);
    if (d == t.rank() - 3) apart.push_back(wanted / heads(t));
  }
  joined[t.rank() - 3] = wanted;
  return w.b.reshape(w.broadcast(x, apart, dims), joined);
}
/// The product of batches of matrices; lhs' last axis with rhs' axis `from_the_end` (1 or 2).
ValueId product(const Words& w, ValueId lhs, ValueId rhs, std::size_t from_the_end) {
  const auto rank = w.rank(lhs);
  const Ints batch = first_axes(rank - 2);
  return w.b.op("dot_general", {lhs, rhs}, attr_list({{"lhs_batch", batch}, {"rhs_batch", batch}, {"lhs_contract", Ints{static_cast<std::int64_t>(rank) - 1}}, {"rhs_contract", Ints{static_cast<std::int64_t>(rank - from_the_end)}}}));
}

}  // namespace

Inferred Attention::infer(std::span<const Type> in, const AttrMap&) {
  const Type &q = in[0], &k = in[1], &v = in[2];
  if (!is_float(q.dtype) || q.dtype != k.dtype || q.dtype != v.dtype || q.rank() < 2 || q.rank() >= max_rank || k.rank() != q.rank() || v.rank() != q.rank()) return no("C1: " + q.str() + ", " + k.str() + " and " + v.str() + " do not go together");
  if (batches(q) != batches(k) || batches(q) != batches(v)) return no("C1: leading axes differ: " + q.str() + ", " + k.str() + ", " + v.str());
  if (q.shape.back() != k.shape.back() || from_end(k, 2) != from_end(v, 2) || heads(k) != heads(v)) return no("C2: " + q.str() + ", " + k.str() + " and " + v.str() + " do not fit");
  if (heads(k) == 0 ? heads(q) != 0 : heads(q) % heads(k) != 0) return no("C3: " + std::to_string(heads(q)) + " heads of the query over " + std::to_string(heads(k)) + " of the key");
  if (in.size() > 4) return no("C4: there is more than one mask");
  if (in.size() == 4) {
    const auto s = broadcast_shapes(scores_shape(q, k), in[3].shape);
    if ((!is_bool(in[3].dtype) && in[3].dtype != q.dtype) || !std::holds_alternative<Shape>(s) || std::get<Shape>(s) != scores_shape(q, k)) return no("C4: the mask " + in[3].str() + " does not fit scores of " + str(scores_shape(q, k)));
  }
  if (from_end(k, 2) == 0 || q.shape.back() == Dim(0)) return no("C5: there is no key, or its width is 0");
  Shape s = q.shape;
  s[s.size() - 1] = v.shape.back();
  return one({q.dtype, s});
}

Out Attention::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const Type q = w.type(v[0]);
    const auto last = static_cast<std::int64_t>(q.rank()) - 1;
    const double width = static_cast<double>(from_end(q, 1)), scale = a.real("scale") == 0 ? 1 / std::sqrt(width) : a.real("scale");
    auto scores = product(w, w.scaled(v[0], scale), shared(w, v[1], heads(q)), 1);
    const Shape shape = w.type(scores).shape;
    const auto never = b.splat_like(scores, -std::numeric_limits<double>::infinity());
    if (a.flag("causal")) {
      const Shape plane(shape.end() - 2, shape.end());
      scores = w("select", b.broadcast_to(w("le", w.iota(DType::i64, plane, 1), w.iota(DType::i64, plane, 0)), shape), scores, never);
    }
    if (v.size() > 3) {
      const auto mask = b.broadcast_to(v[3], shape);
      scores = is_bool(w.type(mask).dtype) ? w("select", mask, scores, never) : w("add", scores, mask);
    }
    const auto p = b.op("softmax", {scores}, attr_list({{"axis", last}}));
    if (v.size() == 3) return {product(w, p, shared(w, v[2], heads(q)), 2)};
    const auto left = w.spread(w.with("eq", w.reduce("reduce_max", scores, {last}), -std::numeric_limits<double>::infinity()), {last}, scores);
    return {product(w, w("select", left, b.splat_like(p, 0), p), shared(w, v[2], heads(q)), 2)};
  });
}

}  // namespace plumb::ir::ops

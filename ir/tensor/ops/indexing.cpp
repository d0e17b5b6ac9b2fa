#include "ir/tensor/ops/indexing.h"

#include "ir/tensor/ops/positions.h"
#include "ir/tensor/ops/view.h"

namespace plumb::ir::ops {

// ── diagonal ──
Inferred Diagonal::infer(std::span<const Type> in, const AttrMap& a) {
  const std::int64_t axes[] = {a.integer("axis1"), a.integer("axis2")};
  if (auto e = check_axes(axes, in[0].rank(), "axis"); !e.empty()) return no("C1: " + e);
  const std::int64_t rows = in[0].shape[static_cast<std::size_t>(axes[0])].size(), columns = in[0].shape[static_cast<std::size_t>(axes[1])].size();
  if (!fits(Wide(rows) * columns)) return no("C2: " + in[0].str() + " is too large");
  const auto offset = std::clamp(a.integer("offset"), -rows, columns);
  Shape s = drop(in[0].shape, axes);
  s.push_back(std::min(rows - std::max<std::int64_t>(-offset, 0), columns - std::max<std::int64_t>(offset, 0)));
  return one({in[0].dtype, s});
}
/// With the two axes last and joined, the diagonal's elements are columns + 1 apart.
Out Diagonal::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const Type t = b.type(in[0]), result = std::get<std::vector<Type>>(infer(std::array{t}, a))[0];
  const Ints axes{a.integer("axis1"), a.integer("axis2")};
  const auto rows = t.shape[static_cast<std::size_t>(axes[0])].size(), columns = t.shape[static_cast<std::size_t>(axes[1])].size();
  const auto offset = std::clamp(a.integer("offset"), -rows, columns), count = result.shape.back().size();
  Ints perm;
  for (auto d : first_axes(t.rank()))
    if (!contains(axes, d)) perm.push_back(d);
  perm.insert(perm.end(), axes.begin(), axes.end());
  Shape joined = drop(t.shape, axes);
  joined.push_back(rows * columns);
  const auto flat = b.reshape(w.transpose(in[0], perm), joined);
  const auto first = std::max<std::int64_t>(-offset, 0) * columns + std::max<std::int64_t>(offset, 0);
  return {count == 0 ? w.slice(flat, joined.size() - 1, 0, 0) : w.slice(flat, joined.size() - 1, first, first + (count - 1) * (columns + 1) + 1, columns + 1)};
}

// ── repeat ──
Inferred Repeat::infer(std::span<const Type> in, const AttrMap& a) {
  const auto& repeats = a.ints("repeats");
  const auto rank = in[0].rank();
  if (repeats.size() < rank || repeats.size() + rank > max_rank) return no("C1: repeats has " + std::to_string(repeats.size()) + " entries for " + in[0].str());
  Shape s;
  for (std::size_t k = 0; k < repeats.size(); ++k) {
    const auto lead = repeats.size() - rank;
    const Wide size = Wide(k < lead ? 1 : in[0].shape[k - lead].size()) * repeats[k];
    if (repeats[k] < 0 || !fits(size)) return no("C2: repeats has entry " + std::to_string(repeats[k]));
    s.push_back(static_cast<std::int64_t>(size));
  }
  return one({in[0].dtype, s});
}
Out Repeat::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const auto& repeats = a.ints("repeats");
  const Type t = b.type(in[0]);
  const auto lead = repeats.size() - t.rank();
  Shape apart, result;  // before each axis of x, one that counts its repetitions
  Ints dims;
  for (std::size_t k = 0; k < repeats.size(); ++k) {
    apart.push_back(repeats[k]);
    result.push_back(k < lead ? repeats[k] : repeats[k] * t.shape[k - lead].size());
    if (k < lead) continue;
    dims.push_back(static_cast<std::int64_t>(apart.size()));
    apart.push_back(t.shape[k - lead]);
  }
  return {b.reshape(w.broadcast(in[0], apart, dims), result)};
}

// ── as_strided ──
Inferred AsStrided::infer(std::span<const Type> in, const AttrMap& a) {
  const auto &size = a.ints("size"), &strides = a.ints("strides");
  if (size.size() != strides.size() || size.size() > max_rank || std::any_of(size.begin(), size.end(), [](auto n) { return n < 0; })) return no("C1: size and strides do not agree, or a size is negative");
  Wide low = a.integer("offset"), high = low;
  const bool empty = contains(size, 0);
  for (std::size_t d = 0; d < size.size(); ++d) (strides[d] < 0 ? low : high) += Wide(std::max<std::int64_t>(size[d] - 1, 0)) * strides[d];
  if (!empty && (low < 0 || high >= Wide(in[0].elements()))) return no("C2: positions lie outside the " + std::to_string(in[0].elements()) + " elements of " + in[0].str());
  return one({in[0].dtype, to_shape(size)});
}
Out AsStrided::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const auto &size = a.ints("size"), &strides = a.ints("strides");
  const Shape shape = to_shape(size);
  const auto flat = b.reshape(in[0], {w.type(in[0]).elements()});
  if (contains(size, 0)) return {b.broadcast_to(b.scalar(w.type(flat).dtype, 0), shape)};
  ValueId at = b.broadcast_to(b.scalar(DType::i64, static_cast<double>(a.integer("offset"))), shape);
  for (std::size_t d = 0; d < size.size(); ++d)
    if (strides[d] != 0) at = w("add", at, w.scaled(w.iota(DType::i64, shape, static_cast<std::int64_t>(d)), static_cast<double>(strides[d])));
  return {w.gather(flat, at, 0)};
}

// ── slice_scatter ──
Inferred SliceScatter::infer(std::span<const Type> in, const AttrMap& a) {
  auto region = Slice::infer(in.subspan(0, 1), a);
  if (const auto* why = std::get_if<std::string>(&region)) return no("C1: no slice: " + *why);
  if (std::get<std::vector<Type>>(region)[0] != in[1]) return no("C2: source must be " + std::get<std::vector<Type>>(region)[0].str() + ", not " + in[1].str());
  return one(in[0]);
}
Out SliceScatter::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const Type t = b.type(in[0]), source = b.type(in[1]);
  if (source.elements() == 0) return {in[0]};
  Ints high, interior;
  for (std::size_t d = 0; d < t.rank(); ++d) {
    const auto stride = a.ints("stride").empty() ? 1 : a.ints("stride")[d], count = source.shape[d].size();
    interior.push_back(count == 1 ? 0 : stride - 1);
    high.push_back(t.shape[d].size() - a.ints("start")[d] - ((count - 1) * stride + 1));
  }
  const auto& low = a.ints("start");
  const auto inside = w.pad(b.broadcast_to(b.scalar(DType::boolean, 1), source.shape), 0, low, high, interior);
  return {w("select", inside, w.pad(in[1], 0, low, high, interior), in[0])};
}

// ── masked_scatter ──
Inferred MaskedScatter::infer(std::span<const Type> in, const AttrMap&) {
  if (!is_bool(in[1].dtype) || in[1].shape != in[0].shape) return no("C1: mask must be bool" + str(in[0].shape) + ", not " + in[1].str());
  if (in[2].dtype != in[0].dtype || (in[2].elements() == 0 && in[0].elements() != 0)) return no("C2: " + in[2].str() + " has nothing for " + in[0].str());
  return one(in[0]);
}
Out MaskedScatter::decompose(Builder& b, In in, const AttrMap&) {
  const Words w{b};
  const Type t = b.type(in[0]);
  if (t.elements() == 0) return {in[0]};
  const auto mask = b.reshape(in[1], {t.elements()});
  const auto before = b.op("cumsum", {b.convert(mask, DType::i64)}, attr_list({{"axis", std::int64_t{0}}, {"exclusive", true}}));
  const auto at = w("select", mask, before, b.splat_like(before, 0));
  const auto taken = b.reshape(w.gather(b.reshape(in[2], {b.type(in[2]).elements()}), at, 0), t.shape);
  return {w("select", in[1], taken, in[0])};
}

// ── advanced_index ──
Inferred AdvancedIndex::infer(std::span<const Type> in, const AttrMap& a) {
  const auto plan = index_plan(in[0], in.subspan(1), a.ints("axes"));
  if (const auto* why = std::get_if<std::string>(&plan)) return no(*why);
  return one({in[0].dtype, indexed_shape(in[0], std::get<IndexPlan>(plan), a.ints("axes"))});
}
Out AdvancedIndex::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const auto& axes = a.ints("axes");
  const Type x = b.type(in[0]);
  std::vector<Type> types;
  for (auto v : in.subspan(1)) types.push_back(b.type(v));
  const auto p = std::get<IndexPlan>(index_plan(x, types, axes));
  const auto j = join_axes(x, p, axes);
  const auto at = joined_positions(w, x, p, in.subspan(1), axes);
  return {w.gather(b.reshape(w.transpose(in[0], j.perm), j.joined), at, static_cast<std::int64_t>(p.where))};
}

// ── embedding_bag ──
Inferred EmbeddingBag::infer(std::span<const Type> in, const AttrMap& a) {
  const Type &table = in[0], &indices = in[1], &offsets = in[2];
  const bool vectors = is_integer(indices.dtype) && indices.rank() == 1 && is_integer(offsets.dtype) && offsets.rank() == 1;
  if (!is_float(table.dtype) || table.rank() != 2 || table.shape[0] == Dim(0) || !vectors) return no("C1: takes a matrix and two vectors of integers, not " + table.str() + ", " + indices.str() + ", " + offsets.str());
  const auto& mode = a.text("mode");
  if (mode != "sum" && mode != "mean" && mode != "max") return no("C2: mode is '" + mode + "', not sum, mean or max");
  if (in.size() > 4 || (in.size() == 4 && (mode != "sum" || in[3] != Type{table.dtype, indices.shape}))) return no("C3: weight must be " + Type{table.dtype, indices.shape}.str() + ", for the mode sum");
  if (offsets.shape[0] == Dim(0)) return no("C4: there is no bag");
  return one({table.dtype, {offsets.shape[0], table.shape[1]}});
}
/// Which bag each index lies in: as many as begin at or before it, less one. Sums are scattered in the order of the
/// indices; a maximum is one over all indices, those of other bags left out.
Out EmbeddingBag::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const auto n = w.size(v[1], 0), bags = w.size(v[2], 0), width = w.size(v[0], 1);
    const Shape grid{bags, n}, result{bags, width};
    const auto begins = w("le", w.broadcast(b.convert(v[2], DType::i64), grid, {0}), w.iota(DType::i64, grid, 1));
    const auto bag = w.with("sub", w.reduce("reduce_sum", b.convert(begins, DType::i64), {0}), 1);
    const auto at = b.convert(v[1], DType::i64);
    const auto padding = a.integer("padding_index");
    const auto counts = padding == -1 ? b.broadcast_to(b.scalar(DType::boolean, 1), {n}) : w.with("ne", at, static_cast<double>(padding));
    auto rows = w.gather(v[0], at, 0);
    if (v.size() > 3) rows = w("mul", rows, w.broadcast(v[3], {n, width}, {0}));
    rows = w("select", w.broadcast(counts, {n, width}, {0}), rows, b.splat_like(rows, 0));
    const auto inside = w("and", w("eq", w.broadcast(bag, grid, {1}), w.iota(DType::i64, grid, 0)), w.broadcast(counts, grid, {1}));
    const auto number = w.reduce("reduce_sum", b.convert(inside, DType::i64), {1});
    const auto some = w.broadcast(w.with("gt", number, 0), result, {0});
    const auto none = b.broadcast_to(b.scalar(w.type(rows).dtype, 0), result);
    if (a.text("mode") == "max") {
      const Shape cube{bags, n, width};
      const auto mine = w("select", w.broadcast(inside, cube, {0, 1}), w.broadcast(rows, cube, {1, 2}), b.broadcast_to(b.scalar(w.type(rows).dtype, -std::numeric_limits<double>::infinity()), cube));
      return {w("select", some, w.reduce("reduce_max", mine, {1}), none)};
    }
    const auto sum = b.op("scatter_add", {none, bag, rows}, attr_list({{"axis", std::int64_t{0}}}));
    if (a.text("mode") == "sum") return {sum};
    return {w("select", some, w("div", sum, w.broadcast(b.convert(number, w.type(sum).dtype), result, {0})), none)};
  });
}

}  // namespace plumb::ir::ops

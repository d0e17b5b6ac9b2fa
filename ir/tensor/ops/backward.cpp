#include "ir/tensor/ops/backward.h"

namespace plumb::ir::ops {
namespace {

Shape spatial_of(const Type& t) { return Shape(t.shape.begin() + 2, t.shape.end()); }
Shape joined(std::initializer_list<std::int64_t> lead, const Shape& tail) {
  Shape s;
  for (auto d : lead) s.push_back(d);
  for (const auto& d : tail) s.push_back(d);
  return s;
}
/// Axes lead… then those from `from` on.
Ints then_rest(Ints lead, std::size_t rank, std::size_t from) {
  for (auto d : first_axes(rank, from)) lead.push_back(d);
  return lead;
}

/// A convolution whose every number is known; high is what makes its result have `size`.
struct Window {
  Ints stride, low, lhs_dilation, rhs_dilation;
  std::int64_t groups;
  ValueId convolve(const Words& w, ValueId x, ValueId kernel, const Ints& size) const {
    Ints high;
    for (std::size_t d = 0; d < size.size(); ++d) {
      const auto dilated = (w.size(x, d + 2) - 1) * lhs_dilation[d] + 1, span = (w.size(kernel, d + 2) - 1) * rhs_dilation[d] + 1;
      high.push_back((size[d] - 1) * stride[d] + span - dilated - low[d]);
    }
    return w.b.op("convolution", {x, kernel}, attr_list({{"stride", stride}, {"low", low}, {"high", high}, {"lhs_dilation", lhs_dilation}, {"rhs_dilation", rhs_dilation}, {"groups", groups}}));
  }
};
Ints sizes_of(const Words& w, ValueId x) {
  const Extents e = w.type(x).extents();
  return Ints(e.begin() + 2, e.end());
}

/// dx of y = convolution(x, w): dy, spread by the stride, under the window turned round.
ValueId input_gradient(const Words& w, ValueId dy, ValueId weight, const Ints& size, const AttrMap& a) {
  const Type t = w.type(weight);
  const auto groups = a.integer("groups"), out = t.shape[0].size(), in = t.shape[1].size();
  const auto cut = w.b.reshape(weight, joined({groups, out / groups, in}, spatial_of(t)));
  auto turned = w.b.reshape(w.b.transpose(cut, then_rest({0, 2, 1}, t.rank() + 1, 3)), joined({groups * in, out / groups}, spatial_of(t)));
  turned = w.reverse(turned, first_axes(t.rank(), 2));
  const Ints ones(size.size(), 1);
  Ints low;
  for (std::size_t d = 0; d < size.size(); ++d) low.push_back((w.size(turned, d + 2) - 1) * a.ints("dilation")[d] - a.ints("padding")[d]);
  return Window{ones, low, a.ints("stride"), a.ints("dilation"), groups}.convolve(w, dy, turned, size);
}
/// dw of y = convolution(x, w): the batch is what is summed over; dy is the window, spread by the stride.
ValueId weight_gradient(const Words& w, ValueId dy, ValueId x, const Ints& window, const AttrMap& a) {
  const Type tx = w.type(x), ty = w.type(dy);
  const auto groups = a.integer("groups"), batch = tx.shape[0].size(), in = tx.shape[1].size() / groups;
  const auto cut = w.b.reshape(x, joined({batch, groups, in}, spatial_of(tx)));
  const auto images = w.b.reshape(w.b.transpose(cut, then_rest({2, 1, 0}, tx.rank() + 1, 3)), joined({in, groups * batch}, spatial_of(tx)));
  const auto kernel = w.b.transpose(dy, then_rest({1, 0}, ty.rank(), 2));
  const Ints ones(window.size(), 1);
  const auto r = Window{a.ints("dilation"), a.ints("padding"), ones, a.ints("stride"), groups}.convolve(w, images, kernel, window);
  return w.b.transpose(r, then_rest({1, 0}, ty.rank(), 2));
}

}  // namespace

Inferred ConvolutionBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const Type &dy = in[0], &x = in[1], &w = in[2];
  const auto rank = x.rank();
  for (const auto& t : in)
    if (!is_float(t.dtype) || t.dtype != x.dtype || t.rank() != rank || rank < 3 || rank > 5 || t.elements() == 0) return no("C1: " + dy.str() + ", " + x.str() + " and " + w.str() + " do not go together");
  const auto &stride = a.ints("stride"), &padding = a.ints("padding"), &dilation = a.ints("dilation");
  const auto within = [&](const Ints& v, std::int64_t least) { return v.size() == rank - 2 && std::all_of(v.begin(), v.end(), [&](auto k) { return k >= least && k <= (1 << 20); }); };
  if (!within(stride, 1) || !within(padding, 0) || !within(dilation, 1)) return no("C2: stride, padding and dilation need " + std::to_string(rank - 2) + " entries in their ranges");
  const bool turned = a.flag("transposed");
  const Type &from = turned ? dy : x, &to = turned ? x : dy;  // of the plain convolution that has this window
  const auto groups = a.integer("groups");
  const bool agree = groups >= 1 && from.shape[1].size() % groups == 0 && from.shape[1].size() / groups == w.shape[1].size() && to.shape[1] == w.shape[0] && w.shape[0].size() % groups == 0;
  if (!agree || dy.shape[0] != x.shape[0]) return no("C3: channels or batches of " + dy.str() + ", " + x.str() + " and " + w.str() + " do not agree over " + std::to_string(groups) + " groups");
  for (std::size_t d = 0; d < rank - 2; ++d) {
    const auto free = from.shape[d + 2].size() + 2 * padding[d] - ((w.shape[d + 2].size() - 1) * dilation[d] + 1);
    if (free < 0 || free / stride[d] + 1 != to.shape[d + 2].size()) return no("C4: axis " + std::to_string(d + 2) + " of " + dy.str() + " is not the forward result's");
  }
  return std::vector<Type>{x, w, {x.dtype, {dy.shape[1]}}};
}
Out ConvolutionBackward::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const auto dy = v[0], x = v[1], weight = v[2];
    const Ints ones(w.rank(x) - 2, 1);
    const auto db = w.reduce("reduce_sum", dy, then_rest({0}, w.rank(dy), 2));
    if (!a.flag("transposed")) return {input_gradient(w, dy, weight, sizes_of(w, x), a), weight_gradient(w, dy, x, sizes_of(w, weight), a), db};
    const auto dx = Window{a.ints("stride"), a.ints("padding"), ones, a.ints("dilation"), a.integer("groups")}.convolve(w, dy, weight, sizes_of(w, x));
    return {dx, weight_gradient(w, x, dy, sizes_of(w, weight), a), db};
  });
}

// ── pools ──
Inferred AvgPoolBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const auto w = pool_window(in[1], a);
  if (const auto* why = std::get_if<std::string>(&w)) return no(*why);
  const Type t = pooled_type(in[1], std::get<PoolWindow>(w));
  if (in[0] != t || !is_float(t.dtype) || std::get<PoolWindow>(w).positions() > 4096) return no("C7: dy must be " + t.str() + ", not " + in[0].str() + ", and the window of at most 4,096 positions");
  return one(in[1]);
}
/// One term a position of the window: the shares, spread by the stride and laid where that position reads.
Out AvgPoolBackward::decompose(Builder& b, In in, const AttrMap& a) {
  const auto p = std::get<PoolWindow>(pool_window(b.type(in[1]), a));
  return in_f32(b, in.subspan(0, 1), 0, [&](In v) -> Out {
    const Words w{b};
    const auto share = mean_of_windows(w, v[0], p, a);
    ValueId sum = -1;
    Index at(p.kernel.size(), 0);
    for (std::int64_t k = 0; k < p.positions(); ++k, plumb::advance(at, p.kernel)) {
      Ints low, high, interior;
      for (std::size_t d = 0; d < at.size(); ++d) {
        low.push_back(at[d] * p.dilation[d] - p.low[d]);
        high.push_back(p.sizes[d] - low.back() - ((p.out[d] - 1) * p.stride[d] + 1));
        interior.push_back(p.stride[d] - 1);
      }
      const auto term = w.pad(share, 0, p.with_leading(low, 0), p.with_leading(high, 0), p.with_leading(interior, 0));
      sum = sum < 0 ? term : w("add", sum, term);
    }
    return {sum};
  });
}

Inferred MaxPoolBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const auto& size = a.ints("size");
  if (is_bool(in[0].dtype) || !is_integer(in[1].dtype) || in[0].shape != in[1].shape) return no("C1: " + in[0].str() + " and places " + in[1].str() + " do not go together");
  const bool sized = std::all_of(size.begin(), size.end(), [](auto n) { return n >= 0 && n <= (std::int64_t{1} << 40); });
  if (size.empty() || size.size() > 3 || in[0].rank() < size.size() + 1 || in[0].rank() > size.size() + 2 || !sized) return no("C2: size has " + std::to_string(size.size()) + " entries for " + in[0].str() + ", or one out of range");
  Type t = in[0];
  for (std::size_t d = 0; d < size.size(); ++d) t.shape[t.rank() - size.size() + d] = size[d];
  t.bytes();
  return one(t);
}
/// Images one after another: each image's places are those of a vector of all, its beginning added. A place outside its image
/// becomes one outside all.
Out MaxPoolBackward::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const Type t = w.type(in[0]), result = std::get<std::vector<Type>>(infer(std::array{t, w.type(in[1])}, a))[0];
  const auto area = element_count(a.ints("size")), images = area == 0 ? 0 : result.elements() / area, each = images == 0 ? 0 : t.elements() / images;
  const auto zero = b.broadcast_to(b.scalar(t.dtype, 0), {images * area});
  if (images == 0) return {b.reshape(zero, result.shape)};
  const Shape rows{images, each};
  const auto at = b.reshape(b.convert(in[1], DType::i64), rows);
  const auto outside = w("or", w.with("lt", at, 0), w.with("ge", at, static_cast<double>(area)));
  const auto place = w("select", outside, b.splat_like(at, -1), w("add", at, w.scaled(w.iota(DType::i64, rows, 0), static_cast<double>(area))));
  const auto r = b.op("scatter_add", {zero, b.reshape(place, {images * each}), b.reshape(in[0], {images * each})}, attr_list({{"axis", std::int64_t{0}}}));
  return {b.reshape(r, result.shape)};
}

Inferred AdaptiveAvgPoolBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const Type &dy = in[0], &x = in[1];
  if (!is_float(x.dtype) || dy.dtype != x.dtype || dy.rank() != x.rank() || x.rank() >= max_rank) return no("C1: " + dy.str() + " and " + x.str() + " do not go together");
  const auto axes = a.integer("axes"), lead = static_cast<std::int64_t>(x.rank()) - axes;
  if (axes < 1 || axes > 3 || lead < 1) return no("C2: axes is " + std::to_string(axes) + " for " + x.str());
  for (std::size_t d = 0; d < x.rank(); ++d) {
    const bool pooled = static_cast<std::int64_t>(d) >= lead;
    if (pooled ? dy.shape[d].size() == 0 || x.shape[d].size() == 0 : dy.shape[d] != x.shape[d]) return no("C2: axis " + std::to_string(d) + " of " + dy.str() + " does not fit " + x.str());
  }
  return one(x);
}
/// Along each axis, element i gathers the shares of the parts that hold it: at most a few, found by comparison.
Out AdaptiveAvgPoolBackward::decompose(Builder& b, In in, const AttrMap& a) {
  const Type x = b.type(in[1]);
  return in_f32(b, in.subspan(0, 1), 0, [&](In v) -> Out {
    const Words w{b};
    auto dy = v[0];
    for (auto d = x.rank() - static_cast<std::size_t>(a.integer("axes")); d < x.rank(); ++d) {
      const std::int64_t n = x.shape[d].size(), parts = w.size(dy, d);
      Literal inside(Type{DType::boolean, {n, parts}});
      Reals lengths;
      for (std::int64_t o = 0; o < parts; ++o) {
        const auto first = o * n / parts, end = ((o + 1) * n + parts - 1) / parts;
        lengths.push_back(static_cast<double>(end - first));
        for (std::int64_t i = 0; i < n; ++i) inside.mutable_data<std::uint8_t>()[i * parts + o] = i >= first && i < end;
      }
      const auto share = w("div", dy, w.along(dy, d, lengths));
      Shape wide = w.type(share).shape;
      Shape apart;
      Ints dims;
      for (std::size_t k = 0; k < wide.size(); ++k) {
        if (k == d) apart.push_back(n);
        dims.push_back(static_cast<std::int64_t>(apart.size()));
        apart.push_back(wide[k]);
      }
      const auto at = static_cast<std::int64_t>(d);
      const auto mask = w.broadcast(b.constant(std::move(inside)), apart, {at, at + 1});
      const auto spread = w.broadcast(share, apart, dims);
      dy = w.reduce("reduce_sum", w("select", mask, spread, b.splat_like(spread, 0)), {at + 1});
    }
    return {dy};
  });
}

// ── normalisations ──
namespace {
/// rstd (g - mean(g) - h mean(g h)) over the axes.
ValueId through_normalisation(const Words& w, ValueId g, ValueId h, ValueId rstd, const Ints& axes) {
  const auto centre = w.spread(w.reduce("reduce_mean", g, axes), axes, g), slope = w.spread(w.reduce("reduce_mean", w("mul", g, h), axes), axes, g);
  return w("mul", w("sub", w("sub", g, centre), w("mul", h, slope)), w.spread(rstd, axes, g));
}
}  // namespace

Inferred LayerNormBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const Type& x = in[1];
  if (!is_float(x.dtype)) return no("C1: takes floats, not " + x.str());
  if (auto e = check_axis(a.integer("axis"), x.rank()); !e.empty()) return no("C1: " + e);
  const auto cut = x.shape.begin() + a.integer("axis");
  const Type row{x.dtype, Shape(x.shape.begin(), cut)}, tail{x.dtype, Shape(cut, x.shape.end())};
  if (in[0] != x || in[2] != row || in[3] != row || in[4] != tail) return no("C2: dy, mean, rstd and scale must be " + x.str() + ", " + row.str() + ", " + row.str() + " and " + tail.str());
  return std::vector<Type>{x, tail, tail};
}
Out LayerNormBackward::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 1, [&](In v) -> Out {
    const Words w{b};
    const auto axis = static_cast<std::size_t>(a.integer("axis"));
    const Ints axes = first_axes(w.rank(v[1]), axis), rows = first_axes(axis);
    const auto h = w("mul", w("sub", v[1], w.spread(v[2], axes, v[1])), w.spread(v[3], axes, v[1]));
    const auto g = w("mul", v[0], b.broadcast_to(v[4], w.type(v[0]).shape));
    return {through_normalisation(w, g, h, v[3], axes), w.reduce("reduce_sum", w("mul", v[0], h), rows), w.reduce("reduce_sum", v[0], rows)};
  });
}

Inferred GroupNormBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const Type& x = in[1];
  const auto groups = a.integer("groups");
  if (!is_float(x.dtype) || x.rank() < 2 || groups < 1 || x.shape[1].size() % groups != 0) return no("C1: takes [N,C,…] of floats and groups that divide C, not " + x.str() + " and " + std::to_string(groups));
  const Type statistic{x.dtype, {x.shape[0], groups}}, channel{x.dtype, {x.shape[1]}};
  if (in[0] != x || in[2] != statistic || in[3] != statistic || in[4] != channel) return no("C2: dy, mean, rstd and scale must be " + x.str() + ", " + statistic.str() + ", " + statistic.str() + " and " + channel.str());
  return std::vector<Type>{x, channel, channel};
}
Out GroupNormBackward::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 1, [&](In v) -> Out {
    const Words w{b};
    const Type t = w.type(v[1]);
    const Extents e = t.extents();
    const std::int64_t groups = a.integer("groups"), per = e[1] / groups, inner = element_count({e.begin() + 2, e.size() - 2});
    const Shape cut{e[0], groups, per, inner};
    const auto x = b.reshape(v[1], cut), dy = b.reshape(v[0], cut);
    const auto h = w("mul", w("sub", x, w.spread(v[2], {2, 3}, x)), w.spread(v[3], {2, 3}, x));
    const auto g = w("mul", dy, w.broadcast(b.reshape(v[4], {groups, per}), cut, {1, 2}));
    const auto by_channel = [&](ValueId term) { return b.reshape(w.reduce("reduce_sum", term, {0, 3}), {e[1]}); };
    return {b.reshape(through_normalisation(w, g, h, v[3], {2, 3}), t.shape), by_channel(w("mul", dy, h)), by_channel(dy)};
  });
}

// ── embedding ──
Inferred EmbeddingBackward::infer(std::span<const Type> in, const AttrMap& a) {
  const Type &dy = in[0], &at = in[1];
  if (!is_float(dy.dtype) || !is_integer(at.dtype) || dy.rank() != at.rank() + 1 || Shape(dy.shape.begin(), dy.shape.end() - 1) != at.shape) return no("C1: " + dy.str() + " and indices " + at.str() + " do not go together");
  if (a.integer("rows") < 1 || a.integer("rows") > (std::int64_t{1} << 40)) return no("C2: rows is " + std::to_string(a.integer("rows")));
  return one({dy.dtype, {a.integer("rows"), dy.shape.back()}});
}
Out EmbeddingBackward::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const auto n = w.type(v[1]).elements(), width = w.size(v[0], w.rank(v[0]) - 1), rows = a.integer("rows"), padding = a.integer("padding_index");
    const auto at = b.reshape(b.convert(v[1], DType::i64), {n});
    const DType t = w.type(v[0]).dtype;
    const auto onto = [&](const Shape& shape, ValueId updates) { return b.op("scatter_add", {b.broadcast_to(b.scalar(t, 0), shape), at, updates}, attr_list({{"axis", std::int64_t{0}}})); };
    auto share = b.reshape(v[0], {n, width});
    if (a.flag("by_frequency")) share = w("div", share, w.broadcast(w.gather(onto({rows}, b.broadcast_to(b.scalar(t, 1), {n})), at, 0), {n, width}, {0}));
    if (padding != -1) share = w("select", w.broadcast(w.with("ne", at, static_cast<double>(padding)), {n, width}, {0}), share, b.splat_like(share, 0));
    return {onto({rows, width}, share)};
  });
}

}  // namespace plumb::ir::ops

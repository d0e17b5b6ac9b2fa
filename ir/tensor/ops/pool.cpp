#include "ir/tensor/ops/pool.h"

#include <cmath>

namespace plumb::ir::ops {
namespace {

constexpr std::int64_t most = 1 << 20;
bool within(const Ints& v, std::int64_t least) {
  return std::all_of(v.begin(), v.end(), [&](auto k) { return k >= least && k <= most; });
}
Ints or_else(const AttrMap& a, std::string_view name, const Ints& fallback) {
  const auto* v = a.find(name);
  return v && !std::get<Ints>(*v).empty() ? std::get<Ints>(*v) : fallback;
}

/// Windows along one axis; with ceil_mode `high` changes so that they just fit.
void count_windows(PoolWindow& w, std::size_t d, bool ceil_mode) {
  const auto free = w.sizes[d] + w.low[d] + w.high[d] - ((w.kernel[d] - 1) * w.dilation[d] + 1);
  w.out.push_back(free < 0 ? 0 : free / w.stride[d] + 1);
  if (free < 0 || !ceil_mode) return;
  auto& out = w.out.back();
  out = (free + w.stride[d] - 1) / w.stride[d] + 1;
  if ((out - 1) * w.stride[d] >= w.sizes[d] + w.low[d]) --out;
  w.high[d] += std::max<std::int64_t>((out - 1) * w.stride[d] - free, 0);
}

}  // namespace

Ints PoolWindow::with_leading(const Ints& entries, std::int64_t filler) const {
  Ints r(first, filler);
  r.insert(r.end(), entries.begin(), entries.end());
  return r;
}
AttrMap PoolWindow::attrs() const {
  return attr_list({{"window", with_leading(kernel, 1)}, {"stride", with_leading(stride, 1)}, {"low", with_leading(low, 0)}, {"high", with_leading(high, 0)}, {"dilation", with_leading(dilation, 1)}});
}

std::variant<PoolWindow, std::string> pool_window(const Type& x, const AttrMap& a) {
  PoolWindow w;
  w.kernel = a.ints("kernel");
  const auto n = w.kernel.size();
  if (is_bool(x.dtype)) return "C1: takes numbers, not bool";
  if (n < 1 || n > 3 || (x.rank() != n + 1 && x.rank() != n + 2)) return "C2: a kernel of " + std::to_string(n) + " axes does not fit " + x.str();
  w.first = x.rank() - n;
  w.stride = or_else(a, "stride", w.kernel);
  w.low = or_else(a, "low", Ints(n, 0));
  w.high = or_else(a, "high", Ints(n, 0));
  w.dilation = or_else(a, "dilation", Ints(n, 1));
  for (const auto* v : {&w.stride, &w.low, &w.high, &w.dilation})
    if (v->size() != n) return "C3: stride, low, high and dilation need " + std::to_string(n) + " entries";
  if (!within(w.kernel, 1) || !within(w.stride, 1) || !within(w.dilation, 1) || !within(w.low, 0) || !within(w.high, 0)) return "C4: kernel, stride and dilation are in [1, 2^20], low and high in [0, 2^20]";
  w.declared_high = w.high;
  for (std::size_t d = 0; d < n; ++d) {
    w.sizes.push_back(x.shape[w.first + d].size());
    if (std::max(w.low[d], w.high[d]) > (w.kernel[d] - 1) * w.dilation[d]) return "C5: a window could lie in the padding alone";
    count_windows(w, d, a.flag("ceil_mode"));
    if (w.out[d] < 1) return "C6: axis " + std::to_string(w.first + d) + " of " + x.str() + " is shorter than the window";
  }
  return w;
}

Type pooled_type(const Type& x, const PoolWindow& w) {
  Type t = x;
  for (std::size_t d = 0; d < w.out.size(); ++d) t.shape[w.first + d] = w.out[d];
  return t;
}

// ── max_pool ──
namespace {

/// i64: each element's place in its image.
ValueId places(const Words& w, ValueId x, const PoolWindow& p, bool column_major) {
  const Shape shape = w.type(x).shape;
  const auto n = p.sizes.size();
  ValueId at = -1;
  for (std::size_t k = 0; k < n; ++k) {
    const auto d = column_major ? n - 1 - k : k;
    const auto index = w.iota(DType::i64, shape, static_cast<std::int64_t>(p.first + d));
    at = at < 0 ? index : w("add", w.with("mul", at, static_cast<double>(p.sizes[d])), index);
  }
  return at;
}
/// The element at `at` in every window of the padded x.
ValueId element_of(const Words& w, ValueId x, const PoolWindow& p, const Index& at) {
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto first = at[d] * p.dilation[d];
    x = w.slice(x, p.first + d, first, first + (p.out[d] - 1) * p.stride[d] + 1, p.stride[d]);
  }
  return x;
}
ValueId padded(const Words& w, ValueId x, const PoolWindow& p, double filler) {
  Ints high = p.high;  // at least as much as element_of reads
  for (std::size_t d = 0; d < high.size(); ++d) high[d] = std::max(high[d], (p.out[d] - 1) * p.stride[d] + (p.kernel[d] - 1) * p.dilation[d] + 1 - p.sizes[d] - p.low[d]);
  return w.pad(x, filler, p.with_leading(p.low, 0), p.with_leading(high, 0));
}
ValueId greater(const Words& w, ValueId value, ValueId best) {
  const auto above = w("gt", value, best);
  return is_float(w.type(best).dtype) ? w("or", above, w("and", w("ne", value, value), w("eq", best, best))) : above;
}

ValueId place_of_greatest(const Words& w, ValueId x, const PoolWindow& p, bool column_major) {
  const auto values = padded(w, x, p, 0), positions = padded(w, places(w, x, p, column_major), p, -1);
  ValueId best = -1, where = -1;
  Index at(p.kernel.size(), 0);
  for (std::int64_t k = 0; k < p.positions(); ++k, plumb::advance(at, p.kernel)) {
    const auto value = element_of(w, values, p, at), position = element_of(w, positions, p, at);
    if (best < 0) {
      best = value;
      where = position;
      continue;
    }
    // A position of -1 lies in the padding, whose value does not count.
    const auto better = w("and", w.with("ge", position, 0), w("or", w.with("lt", where, 0), greater(w, value, best)));
    best = w("select", better, value, best);
    where = w("select", better, position, where);
  }
  return where;
}

}  // namespace

Inferred MaxPool::infer(std::span<const Type> in, const AttrMap& a) {
  const auto w = pool_window(in[0], a);
  if (const auto* why = std::get_if<std::string>(&w)) return no(*why);
  const Type t = pooled_type(in[0], std::get<PoolWindow>(w));
  if (std::get<PoolWindow>(w).positions() > 4096) return no("C4: a window of max_pool has at most 4,096 positions");
  return std::vector<Type>{t, {DType::i64, t.shape}};
}
Out MaxPool::decompose(Builder& b, In in, const AttrMap& a) {
  const auto p = std::get<PoolWindow>(pool_window(b.type(in[0]), a));
  return {b.op("reduce_window_max", {in[0]}, p.attrs()), place_of_greatest({b}, in[0], p, a.flag("column_major"))};
}

// ── avg_pool, lp_pool ──
namespace {

/// How many positions each window of one axis counts.
Reals counts(const PoolWindow& p, std::size_t d, bool include_pad) {
  const auto first = include_pad ? -p.low[d] : 0, end = include_pad ? p.sizes[d] + p.declared_high[d] : p.sizes[d];
  Reals r;
  for (std::int64_t o = 0; o < p.out[d]; ++o) {
    std::int64_t inside = 0;
    for (std::int64_t k = 0; k < p.kernel[d]; ++k) {
      const auto at = o * p.stride[d] - p.low[d] + k * p.dilation[d];
      inside += at >= first && at < end;
    }
    r.push_back(static_cast<double>(inside));
  }
  return r;
}
ValueId over_counts(const Words& w, ValueId sum, const std::vector<Reals>& by_axis, std::size_t first) {
  double common = 1;
  ValueId product = -1;
  for (std::size_t d = 0; d < by_axis.size(); ++d) {
    const auto& c = by_axis[d];
    if (std::all_of(c.begin(), c.end(), [&](double v) { return v == c[0]; })) {
      common *= c.empty() ? 1 : c[0];
      continue;
    }
    const auto spread = w.along(sum, first + d, c);
    product = product < 0 ? spread : w("mul", product, spread);
  }
  if (product < 0) return common == 1 ? sum : w.with("div", sum, common);
  return w("div", sum, w.scaled(product, common));
}

}  // namespace

ValueId mean_of_windows(const Words& w, ValueId sum, const PoolWindow& p, const AttrMap& a) {
  if (a.integer("divisor") != 0) return w.with("div", sum, static_cast<double>(a.integer("divisor")));
  std::vector<Reals> by_axis;
  for (std::size_t d = 0; d < p.sizes.size(); ++d) by_axis.push_back(counts(p, d, a.flag("count_include_pad")));
  return over_counts(w, sum, by_axis, p.first);
}

Inferred AvgPool::infer(std::span<const Type> in, const AttrMap& a) {
  const auto w = pool_window(in[0], a);
  if (const auto* why = std::get_if<std::string>(&w)) return no(*why);
  return one(pooled_type(in[0], std::get<PoolWindow>(w)));
}
Out AvgPool::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const auto p = std::get<PoolWindow>(pool_window(b.type(v[0]), a));
    return {mean_of_windows(w, b.op("reduce_window_sum", {v[0]}, p.attrs()), p, a)};
  });
}

Inferred LpPool::infer(std::span<const Type> in, const AttrMap& a) {
  const auto w = pool_window(in[0], a);
  if (const auto* why = std::get_if<std::string>(&w)) return no(*why);
  if (!is_float(in[0].dtype) || !(a.real("p") > 0) || std::isinf(a.real("p"))) return no("C7: takes floats and a p above 0");
  return one(pooled_type(in[0], std::get<PoolWindow>(w)));
}
Out LpPool::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const double p = a.real("p");
    const auto power = p == 1 ? w("abs", v[0]) : p == 2 ? w.square(v[0]) : w.with("pow", w("abs", v[0]), p);
    const auto sum = b.op("reduce_window_sum", {power}, std::get<PoolWindow>(pool_window(b.type(v[0]), a)).attrs());
    return {p == 1 ? sum : p == 2 ? w("sqrt", sum) : w.with("pow", sum, 1 / p)};
  });
}

// ── adaptive_avg_pool ──
Inferred AdaptiveAvgPool::infer(std::span<const Type> in, const AttrMap& a) {
  const auto& size = a.ints("size");
  Type t = in[0];
  if (!is_float(t.dtype)) return no("C1: takes floats, not " + std::string(name(t.dtype)));
  if (size.empty() || size.size() > 3 || size.size() >= t.rank() || t.rank() >= max_rank) return no("C2: size has " + std::to_string(size.size()) + " entries for " + t.str());
  for (std::size_t d = 0; d < size.size(); ++d) {
    auto& dim = t.shape[t.rank() - size.size() + d];
    if (size[d] < 0 || size[d] > most || dim.size() == 0) return no("C3: size " + std::to_string(size[d]) + " of an axis of " + dim.str());
    dim = size[d];
  }
  return one(t);
}
namespace {
/// One axis of n elements cut into parts that may overlap.
struct Parts {
  std::int64_t n, count;
  std::int64_t first(std::int64_t o) const { return o * n / count; }
  std::int64_t end(std::int64_t o) const { return ((o + 1) * n + count - 1) / count; }
  Reals lengths() const {
    Reals r;
    for (std::int64_t o = 0; o < count; ++o) r.push_back(static_cast<double>(end(o) - first(o)));
    return r;
  }
};
/// x with the axis exchanged for two, [part, k]: the part's k-th element, 0 beyond its end.
ValueId parts_of(const Words& w, ValueId x, std::size_t axis, const Parts& p, std::int64_t longest) {
  Literal at(Type{DType::i64, {p.count, longest}}), inside(Type{DType::boolean, {p.count, longest}});
  for (std::int64_t o = 0; o < p.count; ++o)
    for (std::int64_t k = 0; k < longest; ++k) {
      at.mutable_data<std::int64_t>()[o * longest + k] = std::min(p.first(o) + k, p.n - 1);
      inside.mutable_data<std::uint8_t>()[o * longest + k] = p.first(o) + k < p.end(o);
    }
  const auto cut = w.gather(x, w.b.constant(std::move(at)), static_cast<std::int64_t>(axis));
  const auto mask = w.broadcast(w.b.constant(std::move(inside)), w.type(cut).shape, {static_cast<std::int64_t>(axis), static_cast<std::int64_t>(axis) + 1});
  return w("select", mask, cut, w.b.splat_like(cut, 0));
}
ValueId summed_parts(const Words& w, ValueId x, std::size_t axis, const Parts& p) {
  const auto at = static_cast<std::int64_t>(axis);
  if (p.n % p.count != 0) {
    const auto lengths = p.lengths();
    return w.reduce("reduce_sum", parts_of(w, x, axis, p, static_cast<std::int64_t>(*std::max_element(lengths.begin(), lengths.end()))), {at + 1});
  }
  Shape cut;
  for (std::size_t d = 0; d < w.rank(x); ++d) {
    cut.push_back(d == axis ? p.count : w.size(x, d));
    if (d == axis) cut.push_back(p.n / p.count);
  }
  return w.reduce("reduce_sum", w.b.reshape(x, cut), {at + 1});
}
}  // namespace
Out AdaptiveAvgPool::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const auto& size = a.ints("size");
    const auto leading = w.rank(v[0]) - size.size();
    auto x = v[0];
    if (contains(size, 0)) return {b.broadcast_to(b.scalar(w.type(x).dtype, 0), std::get<std::vector<Type>>(infer(std::array{w.type(x)}, a))[0].shape)};
    std::vector<Reals> lengths(size.size());
    for (std::size_t d = 0; d < size.size(); ++d) {
      const Parts p{w.size(x, leading + d), size[d]};
      lengths[d] = p.lengths();
      x = summed_parts(w, x, leading + d, p);
    }
    return {over_counts(w, x, lengths, leading)};
  });
}

}  // namespace plumb::ir::ops

#include "interpreter/tensor/terms.h"

#include <algorithm>

#include "ir/tensor/op_table.h"

namespace plumb::interp {
namespace {

using Places = std::vector<std::int64_t>;

bool has(const ir::Ints& axes, std::size_t d) { return std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end(); }

/// Offsets of all combinations of some axes, in row-major order of the axes as listed.
Places offsets(const Extents& extents, const std::vector<std::size_t>& axes) {
  const auto strides = row_major_strides(extents);
  Places r{0};
  for (auto d : axes) {
    Places next;
    for (auto base : r)
      for (std::int64_t i = 0; i < extents[d]; ++i) next.push_back(base + i * strides[d]);
    r = std::move(next);
  }
  return r;
}
std::vector<std::size_t> as_axes(const ir::Ints& v) { return {v.begin(), v.end()}; }
std::vector<std::size_t> without(std::size_t rank, const ir::Ints& x, const ir::Ints& y) {
  std::vector<std::size_t> r;
  for (std::size_t d = 0; d < rank; ++d)
    if (!has(x, d) && !has(y, d)) r.push_back(d);
  return r;
}

using Rule = std::function<void(std::int64_t, TermPlaces&)>;

Rule reduce_rule(const Extents& in, const ir::Ints& axes, std::int64_t& count) {
  std::vector<std::size_t> reduced;
  for (std::size_t d = 0; d < in.size(); ++d)
    if (has(axes, d)) reduced.push_back(d);
  auto terms = offsets(in, reduced), bases = offsets(in, without(in.size(), axes, {}));
  count = static_cast<std::int64_t>(terms.size());
  return [terms = std::move(terms), bases = std::move(bases)](std::int64_t out, TermPlaces& p) {
    for (auto t : terms) p.a.push_back(bases[static_cast<std::size_t>(out)] + t);
  };
}

std::int64_t entry(const ir::Node& n, const char* which, std::size_t d, std::int64_t fallback) {
  const auto& v = n.attrs.ints(which);
  return v.empty() ? fallback : v[d];
}

/// How a window meets one axis: read once, since a rule runs for every term.
struct Axis { std::int64_t stride, dilation, low, spread; };
std::vector<Axis> window_axes(const ir::Node& n, std::size_t rank, const char* dilation) {
  std::vector<Axis> r;
  for (std::size_t d = 0; d < rank; ++d) r.push_back({entry(n, "stride", d, 1), entry(n, dilation, d, 1), entry(n, "low", d, 0), 1});
  return r;
}

Rule window_rule(const ir::Node& n, const Extents& in, const Extents& out, std::int64_t& count) {
  const auto& w = n.attrs.ints("window");
  const Extents window(w.begin(), w.end());
  count = element_count(window);
  return [axes = window_axes(n, in.size(), "dilation"), in, out, window](std::int64_t flat, TermPlaces& p) {
    const Index o = delinearize(flat, out);
    Index r(window.size());
    do {
      Index at(in.size());
      bool inside = true;
      for (std::size_t d = 0; d < in.size() && inside; ++d) {
        at[d] = o[d] * axes[d].stride + r[d] * axes[d].dilation - axes[d].low;
        inside = at[d] >= 0 && at[d] < in[d];
      }
      if (inside) p.a.push_back(linearize(at, in));
    } while (advance(r, window));
  };
}

Rule dot_rule(const ir::Node& n, const Extents& x, const Extents& y, std::int64_t& count) {
  const auto &lb = n.attrs.ints("lhs_batch"), &rb = n.attrs.ints("rhs_batch"), &lc = n.attrs.ints("lhs_contract"), &rc = n.attrs.ints("rhs_contract");
  auto xb = offsets(x, as_axes(lb)), yb = offsets(y, as_axes(rb)), xk = offsets(x, as_axes(lc)), yk = offsets(y, as_axes(rc));
  auto xm = offsets(x, without(x.size(), lb, lc)), yn = offsets(y, without(y.size(), rb, rc));
  count = static_cast<std::int64_t>(xk.size());
  return [=](std::int64_t out, TermPlaces& p) {
    const auto rows = static_cast<std::int64_t>(xm.size()), columns = static_cast<std::int64_t>(yn.size());
    const auto j = static_cast<std::size_t>(out % columns), i = static_cast<std::size_t>(out / columns % rows), b = static_cast<std::size_t>(out / columns / rows);
    for (std::size_t k = 0; k < xk.size(); ++k) {
      p.a.push_back(xb[b] + xm[i] + xk[k]);
      p.b.push_back(yb[b] + yn[j] + yk[k]);
    }
  };
}

Rule convolution_rule(const ir::Node& n, const Extents& x, const Extents& w, const Extents& out, std::int64_t& count) {
  const std::int64_t groups = n.attrs.integer("groups"), per_out = w[0] / groups, per_in = w[1];
  const Extents taps(w.begin() + 1, w.end());
  count = element_count(taps);
  auto axes = window_axes(n, x.size() - 2, "rhs_dilation");
  for (std::size_t d = 0; d < axes.size(); ++d) axes[d].spread = entry(n, "lhs_dilation", d, 1);
  return [=, axes = std::move(axes), terms = count](std::int64_t flat, TermPlaces& p) {
    const Index o = delinearize(flat, out);
    if (terms == 0) return;
    Index tap(taps.size());
    std::int64_t k = 0;
    do {
      std::int64_t at = o[0] * x[1] + o[1] / per_out * per_in + tap[0];
      for (std::size_t d = 0; d + 2 < x.size() && at >= 0; ++d) {
        const auto& a = axes[d];
        const std::int64_t i = o[d + 2] * a.stride + tap[d + 1] * a.dilation - a.low;
        at = i < 0 || i % a.spread != 0 || i / a.spread >= x[d + 2] ? -1 : at * x[d + 2] + i / a.spread;
      }
      p.a.push_back(at);
      p.b.push_back(o[1] * terms + k++);
    } while (advance(tap, taps));
  };
}

}  // namespace

Terms::Terms(const ir::Function& f, const ir::Node& n) {
  const auto in = f.type(n.operands[0]).extents(), out = f.type(n.results[0]).extents();
  switch (ir::row(n.op).op_class) {
    case ir::OpClass::reduce: rule_ = reduce_rule(in, n.attrs.ints("axes"), count_); break;
    case ir::OpClass::arg_reduce: rule_ = reduce_rule(in, {n.attrs.integer("axis")}, count_); break;
    case ir::OpClass::window: rule_ = window_rule(n, in, out, count_); break;
    case ir::OpClass::contract: {
      const auto second = f.type(n.operands[1]).extents();
      rule_ = ir::name(n) == "convolution" ? convolution_rule(n, in, second, out, count_) : dot_rule(n, in, second, count_);
      break;
    }
    default: fail_internal("'" + std::string(ir::name(n)) + "' combines no terms");
  }
}

}  // namespace plumb::interp

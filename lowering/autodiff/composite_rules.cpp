// Composites that have a rule of their own: where taking them apart would compute more, or give NaN where there is a slope. Narrow
// floats run in f32 and round once.
#include <limits>

#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

ValueId wide(const Words& w, ValueId v) { return is_narrow_float(w.type(v).dtype) ? w.b.convert(v, DType::f32) : v; }
/// v in the dtype of the step's operand k.
ValueId as_operand(const Step& s, std::size_t k, ValueId v) { return s.w.b.convert(v, s.type(k).dtype); }

/// dx = y (g - sum(g y)).
std::vector<ValueId> softmax(const Step& s) {
  const auto& w = s.w;
  const Ints axis{s.a.integer("axis")};
  const auto y = wide(w, s.out[0]), g = wide(w, s.g[0]);
  const auto total = w.spread(w.sum(w("mul", g, y), axis), axis, y);
  return s.first(as_operand(s, 0, w("mul", y, w("sub", g, total))));
}

/// dx = g - e^y sum(g).
std::vector<ValueId> log_softmax(const Step& s) {
  const auto& w = s.w;
  const Ints axis{s.a.integer("axis")};
  const auto y = wide(w, s.out[0]), g = wide(w, s.g[0]);
  return s.first(as_operand(s, 0, w("sub", g, w("mul", w("exp", y), w.spread(w.sum(g, axis), axis, y)))));
}

/// dx = g e^(x - y), 0 where all of x is -inf.
std::vector<ValueId> logsumexp(const Step& s) {
  const auto& w = s.w;
  const auto& axes = s.a.ints("axes");
  const auto x = wide(w, s.in[0]), y = wide(w, s.out[0]), g = wide(w, s.g[0]);
  const auto some = w.select(w.with("ne", y, -std::numeric_limits<double>::infinity()), y, 0);
  return s.first(as_operand(s, 0, w("mul", w.spread(g, axes, x), w("exp", w("sub", x, w.spread(some, axes, x))))));
}

/// dx = x g / norm, 0 where the norm is 0.
std::vector<ValueId> norm(const Step& s) {
  const auto& w = s.w;
  const auto& axes = s.a.ints("axes");
  const auto x = wide(w, s.in[0]), y = wide(w, s.out[0]), g = wide(w, s.g[0]);
  const auto share = w("select", w.with("eq", y, 0), w.b.splat_like(y, 0), w("div", g, y));
  return s.first(as_operand(s, 0, w("mul", x, w.spread(share, axes, x))));
}
bool euclidean(const ir::AttrMap& a) { return a.real("p") == 2; }

/// What normalisations share: h, the normalised elements, and 1 / deviation, spread over them.
struct Normal { ValueId h, rstd; };

/// dx = rstd (u - mean(u) - h mean(u h)), u = g scale; without a mean taken off, without mean(u).
ValueId through(const Words& w, const Normal& n, ValueId u, const Ints& axes, bool centred) {
  const auto mean = [&](ValueId v) { return w.spread(w.reduce("reduce_mean", v, axes), axes, u); };
  const auto from = centred ? w("sub", u, mean(u)) : u;
  return w("mul", n.rstd, w("sub", from, w("mul", n.h, mean(w("mul", u, n.h)))));
}

Normal normal(const Words& w, ValueId centred, const Ints& axes, double epsilon) {
  const auto var = w.reduce("reduce_mean", w("mul", centred, centred), axes);
  const auto rstd = w.spread(w("rsqrt", w.with("add", var, epsilon)), axes, centred);
  return {w("mul", centred, rstd), rstd};
}

std::vector<ValueId> layer_norm(const Step& s) {
  const auto& w = s.w;
  const auto axis = static_cast<std::size_t>(s.a.integer("axis"));
  const auto x = wide(w, s.in[0]), g = wide(w, s.g[0]);
  const Ints axes = numbers(axis, w.rank(x)), rows = numbers(0, axis);
  const auto centred = w("sub", x, w.spread(w.reduce("reduce_mean", x, axes), axes, x));
  const auto n = normal(w, centred, axes, s.a.real("epsilon"));
  auto r = s.nothing();
  if (s.wanted[0]) r[0] = as_operand(s, 0, through(w, n, w("mul", g, w.b.broadcast_to(wide(w, s.in[1]), w.type(x).shape)), axes, true));
  if (s.wanted[1]) r[1] = as_operand(s, 1, w.sum(w("mul", g, n.h), rows));
  if (s.wanted[2]) r[2] = as_operand(s, 2, w.sum(g, rows));
  return r;
}

std::vector<ValueId> rms_norm(const Step& s) {
  const auto& w = s.w;
  const auto axis = static_cast<std::size_t>(s.a.integer("axis"));
  const auto x = wide(w, s.in[0]), g = wide(w, s.g[0]);
  const Ints axes = numbers(axis, w.rank(x)), rows = numbers(0, axis);
  const auto n = normal(w, x, axes, s.a.real("epsilon"));
  const bool scaled = s.in.size() > 1;
  auto r = s.nothing();
  if (s.wanted[0]) r[0] = as_operand(s, 0, through(w, n, scaled ? w("mul", g, w.b.broadcast_to(wide(w, s.in[1]), w.type(x).shape)) : g, axes, false));
  if (scaled && s.wanted[1]) r[1] = as_operand(s, 1, w.sum(w("mul", g, n.h), rows));
  return r;
}

constexpr Rule rules[] = {{"softmax", &softmax}, {"log_softmax", &log_softmax}, {"logsumexp", &logsumexp}, {"norm", &norm, &euclidean}, {"layer_norm", &layer_norm}, {"rms_norm", &rms_norm}};

}  // namespace

std::span<const Rule> composite_rules() { return rules; }

}  // namespace plumb::lowering::autodiff

// Windows (pooling) and arg-reductions: one small loop for each element of the result.
#include <cmath>

#include "ir/tensor/op_table.h"
#include "lowering/templates/template.h"

namespace plumb::lowering {

namespace {
/// What a position outside x is to the others: -0, a sum's exact identity; 1; an infinity, whether the dtype has one or not.
ScalarId absence(KernelContext& c, FnId fn, DType t) {
  const DType acc = Emitter::compute_dtype(t);
  if (is_float(t) && fn == fn_id<scalar::Add>) return c.b.constant(acc, -0.0);
  if (is_float(t) && fn != fn_id<scalar::Mul>) return c.b.constant(acc, fn == fn_id<scalar::Maximum> ? -HUGE_VAL : HUGE_VAL);
  return reduction_identity(c, fn, t, acc);
}
}  // namespace

/// A window's positions are numbered row-major; those outside x take no part.
void lower_window(KernelContext& c) {
  c.kernel->schedule = "window";
  const auto& n = c.anchor_node();
  const auto x = n.operands[0];
  const auto in = c.spec.type(x).extents();
  const DType t = c.spec.type(x).dtype;
  const FnId fn = ir::row(n.op).fn;
  const auto& w = n.attrs.ints("window");
  const Extents window(w.begin(), w.end());
  auto entry = [&](const char* which, std::size_t d, std::int64_t fallback) { const auto& v = n.attrs.ints(which); return v.empty() ? fallback : v[d]; };
  const std::int64_t terms = element_count(window);
  const int id = c.declare_reduction(fn, accumulator(t), terms, reduction_height(terms));
  const bool sum = fn == fn_id<scalar::Add>, extremum = fn == fn_id<scalar::Maximum> || fn == fn_id<scalar::Minimum>, no_inf = extremum && is_float(t) && !row(t).has_inf;
  c.place_buffers(std::vector<bool>(c.shape.empty() ? 0 : c.shape.size() - 1, false));
  for_each_output(c, [&](const Indices& out) {
    auto term = [&](const Affine& r) {
      const auto ranges = c.b.ranges();
      const auto position = delinearize(r, window, ranges);
      Indices at(in.size());
      kir::Predicate inside;
      for (std::size_t d = 0; d < in.size(); ++d) {
        at[d] = out[d] * entry("stride", d, 1) + position[d] * entry("dilation", d, 1) - entry("low", d, 0);
        const auto bounds = kir::range(at[d], ranges);
        if (!bounds || bounds->low < 0) inside.push_back(kir::at_least(at[d], 0));
        if (!bounds || bounds->high >= in[d]) inside.push_back(kir::below(at[d], in[d]));
      }
      const auto absent = absence(c, fn, t);
      if (no_inf && !inside.empty()) {  // an infinity has no place in a buffer of x's format: it is chosen after the load
        const auto present = c.e.at_guarded(x, at, inside, c.b.constant(Emitter::compute_dtype(t), 0));
        return c.b.select(c.b.test(inside), present, absent);
      }
      return c.e.at_guarded(x, at, inside, absent);
    };
    const auto acc = emit_reduction(c, fn, t, terms, false, id, term);
    c.e.enter_block();
    auto value = c.b.convert(c.b.load(acc, {0}), Emitter::compute_dtype(t));
    if (no_inf || (is_float(t) && sum)) {  // a window wholly in the padding: a sum is +0, an extremum a number
      const auto empty = c.b.constant(c.b.dtype(value), reduction_identity(fn, t));
      const auto any = window_meets_input(c, out);
      value = any ? c.b.select(*any, value, empty) : value;
    }
    c.finish(out, value);
  });
}

std::optional<ScalarId> window_meets_input(KernelContext& c, const Indices& out) {
  const auto& n = c.anchor_node();
  const auto in = c.spec.type(n.operands[0]).extents();
  auto entry = [&](const char* which, std::size_t d, std::int64_t fallback) { const auto& v = n.attrs.ints(which); return v.empty() ? fallback : v[d]; };
  std::optional<ScalarId> all;
  for (std::size_t d = 0; d < in.size(); ++d) {
    if (entry("low", d, 0) == 0 && entry("high", d, 0) == 0) continue;
    std::optional<ScalarId> any;  // some position of the window lies on the axis
    for (std::int64_t p = 0; p < n.attrs.ints("window")[d]; ++p) {
      const Affine at = out[d] * entry("stride", d, 1) + (p * entry("dilation", d, 1) - entry("low", d, 0));
      const auto here = c.b.test({kir::at_least(at, 0), kir::below(at, in[d])});
      any = any ? c.b.apply<scalar::Or>(*any, here) : here;
    }
    all = all ? c.b.apply<scalar::And>(*all, *any) : *any;
  }
  return all;
}

void lower_arg_reduce(KernelContext& c) {
  c.kernel->schedule = "arg_reduce";
  const auto& n = c.anchor_node();
  const auto x = n.operands[0];
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const std::int64_t size = c.spec.type(x).shape[axis].size();
  const DType t = Emitter::compute_dtype(c.spec.type(x).dtype);
  const FnId better = ir::name(n) == "argmax" ? fn_id<scalar::Gt> : fn_id<scalar::Lt>;
  c.place_buffers(std::vector<bool>(c.shape.empty() ? 0 : c.shape.size() - 1, false));
  for_each_output(c, [&](const Indices& out) {
    auto element = [&](const Affine& k) {
      Indices at(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(axis));
      at.push_back(k);
      at.insert(at.end(), out.begin() + static_cast<std::ptrdiff_t>(axis), out.end());
      return c.e.at(x, at);
    };
    const auto best = c.b.alloc("best", t, {1});
    const auto where = c.b.alloc("where", DType::i64, {1});
    c.b.store(best, {0}, element(0));
    c.b.store(where, {0}, c.b.constant(DType::i64, 0));
    c.b.loop("k", size - 1, kir::LoopKind::serial, [&](Affine k) {
      c.e.enter_block();
      const auto v = element(k + 1), old = c.b.load(best, {0});
      auto wins = c.b.apply(better, {v, old});
      if (is_float(t)) {  // a NaN beats all but an earlier NaN
        const auto v_nan = c.b.apply<scalar::IsNan>(v), old_nan = c.b.apply<scalar::IsNan>(old);
        wins = c.b.apply<scalar::And>(c.b.apply<scalar::Or>(wins, v_nan), c.b.apply<scalar::Not>(old_nan));
      }
      c.b.store(best, {0}, c.b.select(wins, v, old));
      c.b.store(where, {0}, c.b.select(wins, c.b.index_value(k + 1), c.b.load(where, {0})));
    });
    c.e.enter_block();
    c.finish(out, c.b.load(where, {0}));
  });
}

}  // namespace plumb::lowering

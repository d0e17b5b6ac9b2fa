// Elements by index, and orders.
#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

ir::AttrMap axis_of(const Step& s) { return attrs({{"axis", s.a.integer("axis")}}); }

std::vector<ValueId> gather(const Step& s) {
  const auto& w = s.w;
  const auto axis = s.a.integer("axis");
  const Type x = s.type(0), at = s.type(1);
  auto indices = s.in[1], g = s.g[0];
  if (at.rank() != 1) {
    Shape flat = x.shape;
    flat[static_cast<std::size_t>(axis)] = at.elements();
    indices = w.b.reshape(indices, {at.elements()});
    g = w.b.reshape(g, flat);
  }
  return s.first(w.b.op("scatter_add", {w.zeros(x), indices, g}, axis_of(s)));
}

/// One element of each line: every place asks whether it was the one.
ValueId at_one_place(const Step& s) {
  const auto& w = s.w;
  const Shape shape = s.type(0).shape;
  const auto all = [&](ValueId v) { return w.broadcast(v, shape, numbers(0, shape.size())); };
  const auto place = w.iota(w.type(s.in[1]).dtype, shape, s.a.integer("axis"));
  return w.select(w("eq", place, all(s.in[1])), all(s.g[0]), 0);
}

std::vector<ValueId> gather_elements(const Step& s) {
  Shape line = s.type(0).shape;
  line[static_cast<std::size_t>(s.a.integer("axis"))] = 1;
  if (s.type(1).shape == line) return s.first(at_one_place(s));
  return s.first(s.w.b.op("scatter_elements", {s.w.zeros(s.type(0)), s.in[1], s.g[0]}, attrs({{"axis", s.a.integer("axis")}, {"mode", std::string("add")}})));
}

std::vector<ValueId> scatter_add(const Step& s) {
  auto r = s.first(s.g[0]);
  if (s.wanted[2]) r[2] = s.w.b.op("gather", {s.g[0], s.in[1]}, axis_of(s));
  return r;
}

/// What equals the extremum, x's element and updates alike, shares the cotangent evenly.
std::vector<ValueId> scatter_extremum(const Step& s) {
  const auto& w = s.w;
  const auto t = s.type(0).dtype, count_in = is_narrow_float(t) ? DType::f32 : t;
  const auto chosen = [&](ValueId candidate, ValueId best) { return w("eq", candidate, best); };
  const auto from_updates = chosen(s.in[2], w.b.op("gather", {s.out[0], s.in[1]}, axis_of(s))), from_x = chosen(s.in[0], s.out[0]);
  const auto ties = w.b.op("scatter_add", {w.b.convert(from_x, count_in), s.in[1], w.b.convert(from_updates, count_in)}, axis_of(s));
  const auto share = w.b.convert(w("div", w.b.convert(s.g[0], count_in), ties), t);
  auto r = s.first(w.select(from_x, share, 0));
  r[2] = w.select(from_updates, w.b.op("gather", {share, s.in[1]}, axis_of(s)), 0);
  return r;
}

/// The product of the other factors: where one factor of a place is 0, of what is left for that one, 0 for the others.
std::vector<ValueId> scatter_mul(const Step& s) {
  const auto& w = s.w;
  const auto one_for_zero = [&](ValueId v) { return w("select", w.with("eq", v, 0), w.b.splat_like(v, 1), v); };
  const auto is_zero = [&](ValueId v) { return w.b.convert(w.with("eq", v, 0), DType::i32); };
  const auto onto = [&](std::string_view op, ValueId x, ValueId u) { return w.b.op(op, {x, s.in[1], u}, axis_of(s)); };
  const auto at_updates = [&](ValueId v) { return w.b.op("gather", {v, s.in[1]}, axis_of(s)); };
  const auto product = onto("scatter_mul", one_for_zero(s.in[0]), one_for_zero(s.in[2])), zeros = onto("scatter_add", is_zero(s.in[0]), is_zero(s.in[2]));
  const auto pulled = [&](ValueId g, ValueId all, ValueId zero_count, ValueId self) {
    return w.select(w("eq", zero_count, is_zero(self)), w("mul", g, w("div", all, one_for_zero(self))), 0);
  };
  auto r = s.first(pulled(s.g[0], product, zeros, s.in[0]));
  r[2] = pulled(at_updates(s.g[0]), at_updates(product), at_updates(zeros), s.in[2]);
  return r;
}

/// An order is a permutation, and what undoes it is the order of the places that it took.
std::vector<ValueId> sort(const Step& s) {
  const auto axis = s.a.integer("axis");
  const auto taken = s.w.b.op("argsort", {s.in[0]}, s.a);
  return s.first(s.w.b.op("gather_elements", {s.g[0], s.w.along("argsort", taken, axis)}, axis_of(s)));
}

constexpr Rule rules[] = {{"gather", &gather}, {"gather_elements", &gather_elements}, {"scatter_add", &scatter_add}, {"scatter_max", &scatter_extremum}, {"scatter_min", &scatter_extremum}, {"scatter_mul", &scatter_mul}, {"sort", &sort}};

}  // namespace

std::span<const Rule> index_rules() { return rules; }

}  // namespace plumb::lowering::autodiff

#include "ir/tensor/loops.h"

#include <algorithm>
#include <limits>

#include "ir/tensor/op_table.h"
#include "ir/tensor/ops/selection.h"

namespace plumb::ir {
namespace {

using ops::Words;

OpCode suppression() {
  static const OpCode code = op("non_max_suppression");
  return code;
}

/// What the steps of one suppression share. The loop carries `step`, `left` and `picked`; the rest does not change.
struct Suppression {
  std::int64_t images, classes, boxes, most;
  double overlap;   ///< the threshold
  DType dtype;

  enum Value : std::size_t { step, left, picked, scores, low_y, high_y, low_x, high_x, area, values };
  std::vector<Type> types() const {
    const Type per_class{dtype, {images, classes, boxes}}, per_box{dtype, {images, boxes}};
    return {{DType::i64, {}}, {DType::boolean, per_class.shape}, {DType::i64, {images, classes, most}}, per_class, per_box, per_box, per_box, per_box, per_box};
  }
};
using State = std::vector<ValueId>;

ValueId extent(const Words& w, ValueId low, ValueId high) { return w("sub", high, low); }

State first_state(const Words& w, const Suppression& s, ValueId boxes, ValueId scores, const AttrMap& a) {
  auto& b = w.b;
  const auto column = [&](std::int64_t k) { return b.reshape(w.slice(boxes, 2, k, k + 1), {s.images, s.boxes}); };
  State v(Suppression::values);
  if (a.flag("center_point")) {
    const auto half_width = w.with("div", column(2), 2), half_height = w.with("div", column(3), 2);
    v[Suppression::low_x] = w("sub", column(0), half_width);
    v[Suppression::high_x] = w("add", column(0), half_width);
    v[Suppression::low_y] = w("sub", column(1), half_height);
    v[Suppression::high_y] = w("add", column(1), half_height);
  } else {
    v[Suppression::low_y] = w("minimum", column(0), column(2));
    v[Suppression::high_y] = w("maximum", column(0), column(2));
    v[Suppression::low_x] = w("minimum", column(1), column(3));
    v[Suppression::high_x] = w("maximum", column(1), column(3));
  }
  v[Suppression::area] = w("mul", extent(w, v[Suppression::low_y], v[Suppression::high_y]), extent(w, v[Suppression::low_x], v[Suppression::high_x]));
  v[Suppression::scores] = scores;
  v[Suppression::left] = w.with("gt", scores, a.real("score_threshold"));
  v[Suppression::step] = b.scalar(DType::i64, 0);
  v[Suppression::picked] = b.broadcast_to(b.scalar(DType::i64, -1), {s.images, s.classes, s.most});
  return v;
}

/// left holds somewhere, and there are steps to go.
ValueId goes_on(const Words& w, const Suppression& s, const State& v) {
  return w("and", w.with("lt", v[Suppression::step], static_cast<double>(s.most)), w.reduce("reduce_or", v[Suppression::left], {0, 1, 2}));
}

/// For each image and class: whether the box `best` overlaps each box by more than the threshold.
ValueId overlaps(const Words& w, const Suppression& s, const State& v, ValueId best) {
  const Shape all{s.images, s.classes, s.boxes};
  const auto each = [&](Suppression::Value k) { return w.broadcast(v[k], all, {0, 2}); };
  const auto of_best = [&](Suppression::Value k) { return w.broadcast(w.b.op("gather_elements", {v[k], best}, ops::attr_list({{"axis", std::int64_t{1}}})), all, {0, 1}); };
  const auto shared = [&](Suppression::Value low, Suppression::Value high) {
    return extent(w, w("maximum", of_best(low), each(low)), w("minimum", of_best(high), each(high)));
  };
  const auto height = shared(Suppression::low_y, Suppression::high_y), width = shared(Suppression::low_x, Suppression::high_x);
  const auto both = w("mul", height, width);
  const auto either = w("sub", w("add", of_best(Suppression::area), each(Suppression::area)), both);
  ValueId r = w.with("gt", w("div", both, either), s.overlap);
  for (auto positive : {height, width, both, either, of_best(Suppression::area), each(Suppression::area)}) r = w("and", r, w.with("gt", positive, 0));
  return r;
}

State next_state(const Words& w, const Suppression& s, const State& v) {
  auto& b = w.b;
  const Shape all{s.images, s.classes, s.boxes};
  const auto left = v[Suppression::left];
  const auto ranked = w("select", left, v[Suppression::scores], b.splat_like(v[Suppression::scores], -std::numeric_limits<double>::infinity()));
  const auto best = b.op("argmax", {ranked}, ops::attr_list({{"axis", std::int64_t{2}}}));
  const auto found = w.reduce("reduce_or", left, {2});
  const auto itself = w("eq", w.iota(DType::i64, all, 2), w.broadcast(best, all, {0, 1}));
  const Shape places{s.images, s.classes, s.most};
  const auto taken = w("select", found, best, b.splat_like(best, -1));
  State next = v;
  next[Suppression::step] = w.with("add", v[Suppression::step], 1);
  next[Suppression::left] = w("and", left, w("not", w("or", itself, overlaps(w, s, v, best))));
  next[Suppression::picked] = w("select", w("eq", w.iota(DType::i64, places, 2), b.broadcast_to(v[Suppression::step], places)), w.broadcast(taken, places, {0, 1}), v[Suppression::picked]);
  return next;
}

/// Rows (image, class, box) of what was picked, those that hold one first.
std::vector<ValueId> rows(const Words& w, const Suppression& s, ValueId picked) {
  const Shape places{s.images, s.classes, s.most}, flat{s.images * s.classes * s.most};
  const auto c = ops::chosen(w, w.b.reshape(w.with("ge", picked, 0), flat));
  std::vector<ValueId> columns;
  for (auto v : {w.iota(DType::i64, places, 0), w.iota(DType::i64, places, 1), picked}) {
    const auto all = w.gather(w.b.reshape(v, flat), c.positions, 0);
    columns.push_back(w.b.reshape(w("select", c.exists, all, w.b.splat_like(all, -1)), {flat[0], 1}));
  }
  return {w.concat(columns, 1), c.count};
}

/// Writes out the loops of one function; the functions that they name are added to the module.
class Expander {
 public:
  Expander(const Module& from, Module& to) : from_(from), to_(to) {}

  Function run(const Function& f) {
    Function out;
    out.name = f.name;
    out.result_names = f.result_names;
    out.result_sizes = f.result_sizes;
    Builder b(out);
    std::vector<ValueId> now(f.values.size(), -1);
    const auto at = [&](std::span<const ValueId> values) {
      std::vector<ValueId> r;
      for (auto v : values) r.push_back(now[static_cast<std::size_t>(v)]);
      return r;
    };
    for (auto v : f.params) now[static_cast<std::size_t>(v)] = b.param(f.type(v), f.value(v).name);
    for (const auto& n : f.nodes) {
      std::vector<Type> types;
      for (auto v : n.results) types.push_back(f.type(v));
      b.at(n.where);
      const auto by = n.op == suppression() ? suppress(b, at(n.operands), n.attrs) : b.add_typed(n.op, at(n.operands), n.attrs, types);
      for (std::size_t k = 0; k < by.size(); ++k) now[static_cast<std::size_t>(n.results[k])] = by[k];
    }
    b.results(at(f.results));
    return out;
  }

 private:
  std::string fresh(const char* stem) {
    std::string name;
    do name = std::string(stem) + "_" + std::to_string(++made_);
    while (from_.find(name));
    return name;
  }
  template <class Body> std::string function(const char* stem, const Suppression& s, const SourceLocation& where, Body body) {
    Function f;
    f.name = fresh(stem);
    Builder b(f);
    b.at(where);
    State v;
    for (const auto& t : s.types()) v.push_back(b.param(t));
    b.results(body(Words{b}, v));
    to_.functions.push_back(f);
    return f.name;
  }

  std::vector<ValueId> suppress(Builder& b, const std::vector<ValueId>& in, const AttrMap& a) {
    const Words w{b};
    const Type t = b.type(in[1]);
    const Suppression s{t.shape[0].size(), t.shape[1].size(), t.shape[2].size(), std::min(a.integer("max_boxes"), t.shape[2].size()), a.real("iou_threshold"), t.dtype};
    const auto places = s.images * s.classes * s.most;
    if (places == 0) return {b.broadcast_to(b.scalar(DType::i64, -1), {0, 3}), b.scalar(DType::i64, 0)};
    const auto condition = function("suppression_goes_on", s, b.where(), [&](const Words& inner, const State& v) { return State{goes_on(inner, s, v)}; });
    const auto body = function("suppression_step", s, b.where(), [&](const Words& inner, const State& v) { return next_state(inner, s, v); });
    const auto last = b.add("while", first_state(w, s, in[0], in[1], a), ops::attr_list({{"cond", condition}, {"body", body}}));
    return rows(w, s, last[Suppression::picked]);
  }

  const Module& from_;
  Module& to_;
  int made_ = 0;
};

bool loops(const Function& f) {
  return std::ranges::any_of(f.nodes, [](const Node& n) { return n.op == suppression(); });
}

}  // namespace

bool has_loops(const Module& m) { return std::ranges::any_of(m.functions, loops); }

Module expand_loops(Module m) {
  if (!has_loops(m)) return m;
  Module out, added;
  Expander expander(m, added);
  for (const auto& f : m.functions) out.functions.push_back(loops(f) ? expander.run(f) : f);
  std::ranges::move(added.functions, std::back_inserter(out.functions));
  return out;
}

}  // namespace plumb::ir

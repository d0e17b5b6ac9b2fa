// Operations whose outputs along an axis depend on one another: scans, sorts, scatters. One line, one iteration.
#include "ir/tensor/op_table.h"
#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

using Line = std::function<Indices(const Affine&)>;   ///< the element of a line at a place
using Inverse = std::vector<std::pair<kir::VarId, Affine>>;

/// Loops over all axes of the result but `axis`: parallel, the last of them in vector steps. `body` also gets the inverse of
/// these loops.
void for_each_line(KernelContext& c, std::size_t axis, const std::function<void(const Line&, const Inverse&)>& body) {
  if (c.options.target.grid) return for_each_line_on_grid(c, axis, body);
  Inverse inverse;
  std::function<void(std::size_t, Indices)> nest = [&](std::size_t d, Indices at) {
    if (d == c.shape.size()) {
      c.e.enter_block();
      return body([at, axis](const Affine& k) { auto full = at; full[axis] = k; return full; }, inverse);
    }
    if (d == axis) {
      at.push_back(0);
      return nest(d + 1, at);
    }
    const bool vector = d + 1 == c.shape.size();
    c.b.loop("o" + std::to_string(d), c.shape[d], vector ? kir::LoopKind::vector : kir::LoopKind::parallel, [&](Affine o) {
      inverse.emplace_back(loop_var(o), Affine::coordinate(static_cast<int>(d)));
      auto deeper = at;
      deeper.push_back(o);
      nest(d + 1, deeper);
    }, vector ? c.width() : 1);
  };
  nest(0, {});
}

}  // namespace

void lower_cumsum(KernelContext& c) {
  c.kernel->schedule = "scan";
  const auto& n = c.anchor_node();
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const std::int64_t size = c.shape[axis];
  const bool exclusive = n.attrs.flag("exclusive"), reverse = n.attrs.flag("reverse");
  const DType t = c.spec.type(n.operands[0]).dtype, acc_type = c.accumulator_dtype(t);
  const int id = c.declare_reduction(fn_id<scalar::Add>, accumulator(t), size, std::max<std::int64_t>(size - 1, 0));
  c.place_buffers(std::vector<bool>(c.shape.size() - 1, false));
  for_each_line(c, axis, [&](const Line& element, const Inverse& lines) {
    const auto acc = c.b.alloc("acc", acc_type, {1});
    const Affine place = Affine::coordinate(static_cast<int>(axis));
    const auto declare = [&](Inverse inverse) { c.kernel->output_maps.push_back({c.output.buffer, std::move(inverse)}); };
    auto emit = [&](const Affine& k, bool first) {
      c.e.enter_block();
      const Affine at = reverse ? Affine(size - 1) - k : k;
      const auto x = c.b.convert(c.e.at(n.operands[0], element(at)), acc_type);
      ScalarId out;
      if (exclusive) {
        out = first ? c.b.constant(acc_type, 0) : c.b.load(acc, {0});
        first ? c.b.store(acc, {0}, x) : c.b.combine(acc, {0}, fn_id<scalar::Add>, x, id);
      } else {
        first ? c.b.store(acc, {0}, x) : c.b.combine(acc, {0}, fn_id<scalar::Add>, x, id);
        out = c.b.load(acc, {0});
      }
      c.finish(element(at), c.b.convert(out, Emitter::compute_dtype(t)));
    };
    if (size == 0) return;
    emit(0, true);
    declare(lines);
    c.b.loop("k", size - 1, kir::LoopKind::serial, [&](Affine k) {
      emit(k + 1, false);
      auto inverse = lines;
      inverse.emplace_back(loop_var(k), (reverse ? Affine(size - 1) - place : place) - 1);
      declare(std::move(inverse));
    });
  });
}

/// By rank: an element's place is the number of elements that come before it. Quadratic, stable, and each place is
/// taken once because the order is total; which iteration takes it depends on the data, so there is no inverse map.
void lower_sort(KernelContext& c) {
  c.kernel->schedule = "rank_sort";
  const auto& n = c.anchor_node();
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const std::int64_t size = c.shape[axis];
  const bool descending = n.attrs.flag("descending"), indices = ir::name(n) == "argsort";
  const auto x = n.operands[0];
  const DType t = c.spec.type(x).dtype, wide = Emitter::compute_dtype(t);
  c.place_buffers(std::vector<bool>(c.shape.size() - 1, false));
  auto precedes = [&](ScalarId a, ScalarId b) {  // strictly, by value alone
    auto before = c.b.apply(descending ? fn_id<scalar::Gt> : fn_id<scalar::Lt>, {a, b});
    if (!is_float(wide)) return before;
    const auto a_nan = c.b.apply<scalar::IsNan>(a), b_nan = c.b.apply<scalar::IsNan>(b);
    const auto nan_first = descending ? c.b.apply<scalar::And>(a_nan, c.b.apply<scalar::Not>(b_nan)) : c.b.apply<scalar::And>(b_nan, c.b.apply<scalar::Not>(a_nan));
    return c.b.apply<scalar::Or>(before, nan_first);
  };
  for_each_line(c, axis, [&](const Line& element, const Inverse&) {
    const auto rank = c.b.alloc("rank", DType::i64, {1});
    c.b.loop("i", size, kir::LoopKind::serial, [&](Affine i) {
      c.e.enter_block();
      const auto v = c.e.at(x, element(i));
      c.b.store(rank, {0}, c.b.constant(DType::i64, 0));
      c.b.loop("j", size, kir::LoopKind::serial, [&](Affine j) {
        c.e.enter_block();
        const auto u = c.e.at(x, element(j));
        const auto tie = c.b.apply<scalar::And>(c.b.apply<scalar::Not>(precedes(v, u)), c.b.test({kir::below(j, i)}));
        const auto before = c.b.apply<scalar::Or>(precedes(u, v), tie);
        c.b.combine(rank, {0}, fn_id<scalar::Add>, c.b.convert(before, DType::i64), -1);
      });
      c.e.enter_block();
      const auto place = Affine::value(c.b.load(rank, {0}));
      c.finish(element(place), indices ? c.b.index_value(i) : c.e.at(x, element(i)));
    });
  });
}

/// Each destination gathers its updates in index order, so duplicates add in a fixed order and nothing races.
void lower_scatter(KernelContext& c) {
  c.kernel->schedule = "scatter";
  const auto& n = c.anchor_node();
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  const auto x = n.operands[0], indices = n.operands[1], updates = n.operands[2];
  const std::int64_t count = c.spec.type(indices).shape[0].size();
  const DType t = c.spec.type(x).dtype, acc_type = c.accumulator_dtype(t);
  c.declare_reduction(fn_id<scalar::Add>, accumulator(t), count + 1, count);
  c.kernel->sites.push_back({"scatter_add", n.where});
  const int site = static_cast<int>(c.kernel->sites.size()) - 1;
  c.place_buffers(std::vector<bool>(c.shape.size() - 1, false));
  for_each_output(c, [&](const Indices& out) {
    const auto acc = c.b.alloc("acc", acc_type, {1});
    c.b.store(acc, {0}, c.b.convert(c.e.at(x, out), acc_type));
    c.b.loop("u", count, kir::LoopKind::serial, [&](Affine u) {
      c.e.enter_block();
      const auto i = c.b.check_index(c.b.convert(c.e.at(indices, {u}), DType::i64), c.shape[axis], site);
      auto from = out;
      from[axis] = u;
      const auto hit = c.b.apply<scalar::Eq>(i, c.b.index_value(out[axis]));
      const auto old = c.b.load(acc, {0});
      const auto sum = c.b.apply<scalar::Add>(c.b.convert(old, Emitter::compute_dtype(t)), c.e.at(updates, from));
      c.b.store(acc, {0}, c.b.select(hit, c.b.convert(sum, acc_type), old));
    });
    c.e.enter_block();
    c.finish(out, c.b.convert(c.b.load(acc, {0}), Emitter::compute_dtype(t)));
  });
}

}  // namespace plumb::lowering

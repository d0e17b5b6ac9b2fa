// Operations whose outputs along an axis depend on one another: scans, scatters. One line, one iteration.
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

// Reductions in the canonical order, over any axes, with any pointwise prologue and epilogue.
#include <cmath>

#include "ir/tensor/op_table.h"
#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

using Term = std::function<ScalarId(const Affine&)>;

struct Lanes {
  KernelContext& c;
  FnId fn;
  DType dtype;
  bool vector;
  int reduction;

  void each(const char* name, std::int64_t n, const std::function<void(Affine)>& body) const {
    const bool lanes = vector && n > 2;
    c.b.loop(name, n, lanes ? kir::LoopKind::vector : n <= 4 ? kir::LoopKind::unrolled : kir::LoopKind::serial, [&](Affine l) {
      c.e.enter_block();
      body(l);
    }, lanes ? static_cast<int>(std::min<std::int64_t>(n, c.width())) : 1);
  }

  /// Up to 4,096 terms: serial in each lane, then halving. Element 0 of the accumulators is the result.
  BufferId chunk(std::int64_t n, const Term& term) const {
    const std::int64_t lanes = std::min(n, reduction_lanes), steps = n / reduction_lanes, rest = n % reduction_lanes;
    const auto acc = c.b.alloc("acc", dtype, {lanes});
    each("l", lanes, [&](Affine l) { c.b.store(acc, {l}, c.b.convert(term(l), dtype)); });
    auto step = [&](Affine s, std::int64_t width) {
      each("l", width, [&](Affine l) { c.b.combine(acc, {l}, fn, c.b.convert(term(s * reduction_lanes + l), dtype), reduction); });
    };
    if (steps > 1) c.b.loop("s", steps - 1, kir::LoopKind::serial, [&](Affine s) { step(s + 1, reduction_lanes); });
    if (steps > 0 && rest > 0) step(steps, rest);
    for (std::int64_t h = reduction_lanes / 2, alive = lanes; h >= 1; h /= 2) {
      if (alive <= h) continue;
      each("l", std::min(h, alive - h), [&](Affine l) { c.b.combine(acc, {l}, fn, c.b.load(acc, {l + h}), reduction); });
      alive = h;
    }
    return acc;
  }

  BufferId levels(std::int64_t n, const Term& term) const {
    if (n <= reduction_chunk) return chunk(n, term);
    const std::int64_t full = n / reduction_chunk, rest = n % reduction_chunk;
    const auto partial = c.b.alloc("partial", dtype, {full + (rest > 0)});
    auto one = [&](Affine k, std::int64_t terms) {
      const auto acc = chunk(terms, [&](const Affine& i) { return term(k * reduction_chunk + i); });
      c.b.store(partial, {k}, c.b.load(acc, {0}));
    };
    c.b.loop("k", full, vector ? kir::LoopKind::parallel : kir::LoopKind::serial, [&](Affine k) { one(k, reduction_chunk); });
    if (rest > 0) one(full, rest);
    return levels(full + (rest > 0), [&](const Affine& i) { return c.b.load(partial, {i}); });
  }
};

}  // namespace

ScalarId reduction_identity(KernelContext& c, FnId fn, DType dtype, DType acc) {
  const double v = reduction_identity(fn, dtype);
  if (is_integer(dtype) && v > 0x1p52) return c.b.constant_bits(acc, is_signed(dtype) ? 0x7fffffffffffffffu : ~std::uint64_t{0});
  return c.b.constant(acc, v);
}

std::int64_t reduction_height(std::int64_t n) {
  std::int64_t height = 0;
  while (n > 1) {
    const std::int64_t m = std::min(n, reduction_chunk);
    height += (m + reduction_lanes - 1) / reduction_lanes - 1 + static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(std::min(m, reduction_lanes)))));
    n = (n + reduction_chunk - 1) / reduction_chunk;
  }
  return height;
}

BufferId emit_reduction(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, bool vector_lanes, int reduction, const Term& term) {
  const DType acc = c.accumulator_dtype(dtype);
  if (c.options.fault == Fault::dropped_term && terms > 1) --terms;
  if (terms == 0) {
    const auto empty = c.b.alloc("empty", acc, {1});
    c.b.store(empty, {0}, reduction_identity(c, fn, dtype, acc));
    return empty;
  }
  return Lanes{c, fn, acc, vector_lanes, reduction}.levels(terms, term);
}

void lower_reduce(KernelContext& c) {
  c.kernel->schedule = "reduce";
  const auto& n = c.anchor_node();
  const auto x = n.operands[0];
  const auto in = c.spec.type(x).extents();
  const auto& axes = n.attrs.ints("axes");
  const FnId fn = ir::row(n.op).fn;
  const DType t = c.spec.type(x).dtype;
  Extents reduced;
  bool last_reduced = in.empty();
  for (std::size_t d = 0; d < in.size(); ++d)
    if (std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(d))) {
      reduced.push_back(in[d]);
      last_reduced = d + 1 == in.size();
    } else {
      last_reduced = false;
    }
  const std::int64_t terms = element_count(reduced);
  const int id = c.declare_reduction(fn, accumulator(t), terms, reduction_height(terms));
  c.place_buffers(std::vector<bool>(c.shape.empty() ? 0 : c.shape.size() - 1, false));
  auto term_at = [&](const Indices& out) {
    return [&c, &axes, &in, x, reduced, out](const Affine& r) {
      const auto parts = delinearize(r, reduced, c.b.ranges());
      Indices at(in.size());
      for (std::size_t d = 0, k = 0, o = 0; d < in.size(); ++d)
        at[d] = std::count(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) ? parts[k++] : out[o++];
      return c.e.at(x, at);
    };
  };
  if (c.options.target.grid && last_reduced && fills_a_block(terms)) return lower_grid_reduce(c, fn, t, terms, id, [&](const Indices& out, const Affine& r) { return term_at(out)(r); });
  auto body = [&](const Indices& out, bool vector_lanes) {
    const auto acc = emit_reduction(c, fn, t, terms, vector_lanes, id, term_at(out));
    c.e.enter_block();
    c.finish(out, c.b.convert(c.b.load(acc, {0}), Emitter::compute_dtype(t)));
  };
  const bool by_columns = !last_reduced && !c.shape.empty() && c.shape.back() >= 4;
  if (by_columns && worth_column_tiles(c, terms)) return lower_column_reduce(c, fn, t, terms, id, [&](const Indices& out, const Affine& r) { return term_at(out)(r); });
  if (c.options.target.grid || by_columns) {
    for_each_output(c, [&](const Indices& out) { body(out, false); });
    return;
  }
  // The reduced axis is contiguous: lanes are vectors; outputs are parallel, or, where there is one, its chunks.
  kir::OutputMap map{c.output.buffer, {}};
  std::function<void(Indices)> nest = [&](Indices at) {
    if (at.size() == c.shape.size()) return body(at, true);
    if (c.shape[at.size()] == 1) {
      at.push_back(0);
      return nest(std::move(at));
    }
    c.b.loop("o" + std::to_string(at.size()), c.shape[at.size()], kir::LoopKind::parallel, [&](Affine o) {
      map.inverse.emplace_back(loop_var(o), Affine::coordinate(static_cast<int>(at.size())));
      auto deeper = at;
      deeper.push_back(o);
      nest(std::move(deeper));
    });
  };
  nest({});
  c.kernel->output_maps.push_back(std::move(map));
}

}  // namespace plumb::lowering

// Register tiles: for each panel of n columns, B is packed once as [k][columns] (its views, padding and strides resolved
// there), then every block of rows runs a loop over k with all accumulators in registers: BLIS's micro-kernel, with the
// packing playing im2col for convolutions.
#include "lowering/templates/contraction.h"

namespace plumb::lowering {
namespace {

struct Tile {
  int vectors = 1, rows = 1;
  std::int64_t columns = 1;
};

/// The tile that wastes least: columns in whole vectors, rows as registers allow.
Tile choose_tile(const KernelContext& c, const Contraction& p) {
  const int registers = c.options.target.vector_registers;
  const std::int64_t n = element_count(p.n), k = p.terms();
  Tile best;
  double best_cost = 0;
  for (int v = 1; v <= 4; ++v) {
    Tile t;
    t.vectors = v;
    t.columns = static_cast<std::int64_t>(v) * c.width();
    t.rows = std::min<int>((registers - v - 2) / v, 14);
    if (v > 1 && k * t.columns * 4 > c.options.target.l2_bytes / 2) continue;
    const double padded = static_cast<double>((n + t.columns - 1) / t.columns * t.columns) / static_cast<double>(n);
    const double loads = (t.rows + v) / static_cast<double>(t.rows * v);  // operand reads a multiply-add
    const double cost = padded * (1 + loads);
    if (v == 1 || cost < best_cost) best = t, best_cost = cost;
  }
  // Rows in blocks of equal size, so that the last one is not a sliver.
  const std::int64_t m = element_count(p.m), blocks = (m + best.rows - 1) / best.rows;
  best.rows = static_cast<int>((m + blocks - 1) / blocks);
  return best;
}

class Tiled {
 public:
  Tiled(KernelContext& c, const Contraction& p, int reduction)
      : c_(c), p_(p), reduction_(reduction), tile_(choose_tile(c, p)), acc_type_(c.accumulator_dtype(p.dtype)),
        terms_(p.terms() - (c.options.fault == Fault::dropped_term && p.terms() > 1 ? 1 : 0)), columns_(element_count(p.n)), rows_(element_count(p.m)) {}

  void run() {
    std::function<void(Indices)> batches = [&](Indices b) {
      if (b.size() < p_.batch.size()) {
        c_.b.loop("b" + std::to_string(b.size()), p_.batch[b.size()], kir::LoopKind::parallel, [&](Affine i) {
          auto deeper = b;
          deeper.push_back(i);
          batches(deeper);
        });
        return;
      }
      const std::int64_t panels = (columns_ + tile_.columns - 1) / tile_.columns;
      const std::int64_t splits = row_splits(panels * element_count(p_.batch)), blocks = (rows_ + tile_.rows - 1) / tile_.rows;
      const std::int64_t share = (blocks + splits - 1) / splits;
      c_.b.loop("n", panels, kir::LoopKind::parallel, [&](Affine panel) {
        c_.b.loop("m", splits, kir::LoopKind::parallel, [&](Affine split) {
          declare_outer_loops(b, panel, split, share);
          work(b, panel, split, share);
        });
      });
    };
    batches({});
  }

 private:
  std::int64_t row_splits(std::int64_t tasks) const {
    const std::int64_t wanted = (2 * c_.options.target.threads + tasks - 1) / tasks;
    return std::max<std::int64_t>(1, std::min(wanted, rows_ / std::max(1, 4 * tile_.rows)));
  }

  /// Which iterations of the loops around write an element.
  void declare_outer_loops(const Indices& b, const Affine& panel, const Affine& split, std::int64_t share) {
    Indices batch, m, n;
    p_.coordinates(output_coordinates(c_), batch, m, n);
    row_of_output_ = flat_index(m, p_.m), column_of_output_ = flat_index(n, p_.n);
    for (std::size_t d = 0; d < b.size(); ++d) outer_.emplace_back(loop_var(b[d]), batch[d]);
    outer_.emplace_back(loop_var(panel), kir::floor_div(column_of_output_, tile_.columns));
    outer_.emplace_back(loop_var(split), kir::floor_div(row_of_output_, share * tile_.rows));
    share_ = share;
  }

  Affine column(const Affine& panel, const Affine& j) const { return panel * tile_.columns + j; }
  kir::Predicate wanted(const Affine& n) const { return columns_ % tile_.columns ? kir::Predicate{kir::below(n, columns_)} : kir::Predicate{}; }

  void work(const Indices& b, const Affine& panel, const Affine& split, std::int64_t share) {
    const auto packed = c_.b.alloc("packed", p_.dtype, {p_.terms(), tile_.columns});
    pack(packed, b, panel, {});
    const std::int64_t full = rows_ / tile_.rows, rest = rows_ % tile_.rows;
    c_.b.loop("r", share, kir::LoopKind::serial, [&](Affine r) {
      outer_.emplace_back(loop_var(r), kir::mod(kir::floor_div(row_of_output_, tile_.rows), share_));
      const Affine block = split * share + r;
      c_.b.when({kir::below(block, full)}, [&] { rows(packed, b, block * tile_.rows, tile_.rows, panel); });
      if (rest) c_.b.when({kir::Condition{block - full, true}}, [&] { rows(packed, b, full * tile_.rows, static_cast<int>(rest), panel); });
    });
  }

  void pack(BufferId packed, const Indices& b, const Affine& panel, const Indices& k) {
    if (k.size() < p_.k.size()) {
      c_.b.loop("k" + std::to_string(k.size()), p_.k[k.size()], kir::LoopKind::serial, [&](Affine i) {
        auto deeper = k;
        deeper.push_back(i);
        pack(packed, b, panel, deeper);
      });
      return;
    }
    Affine flat;
    for (std::size_t d = 0; d < k.size(); ++d) flat = flat * p_.k[d] + k[d];
    c_.b.loop("j", tile_.columns, kir::LoopKind::vector, [&](Affine j) {
      c_.e.enter_block();
      const Affine n = column(panel, j);
      c_.b.store(packed, {flat, j}, p_.rhs(b, k, delinearize(n, p_.n, c_.b.ranges()), wanted(n)));
    }, c_.width());
  }

  /// One block of rows: acc in registers over each chain, sums of chains in memory.
  void rows(BufferId packed, const Indices& b, const Affine& first_row, int rows, const Affine& panel) {
    const auto tile = c_.b.alloc("tile", acc_type_, {rows, tile_.columns});
    fill(tile, rows, -0.0);
    auto block = [&](BufferId sum, const Affine& first, std::int64_t count) {
      if (count >= chain_steps)
        c_.b.loop("c", count / chain_steps, kir::LoopKind::serial, [&](Affine i) { chain(packed, b, first_row, rows, first + i * chain_steps, chain_steps, sum); });
      if (count % chain_steps) chain(packed, b, first_row, rows, first + count / chain_steps * chain_steps, count % chain_steps, sum);
    };
    if (terms_ <= block_terms) {
      block(tile, 0, terms_);
    } else {
      const auto sum = c_.b.alloc("sum", acc_type_, {rows, tile_.columns});
      auto one = [&](const Affine& first, std::int64_t count) {
        fill(sum, rows, -0.0);
        block(sum, first, count);
        each(rows, false, [&](Affine i, Affine j) { c_.b.combine(tile, {i, j}, fn_id<scalar::Add>, c_.b.load(sum, {i, j}), reduction_); });
      };
      c_.b.loop("q", terms_ / block_terms, kir::LoopKind::serial, [&](Affine q) { one(q * block_terms, block_terms); });
      if (terms_ % block_terms) one(terms_ / block_terms * block_terms, terms_ % block_terms);
    }
    each(rows, false, [&](Affine i, Affine j) {
      kir::OutputMap map{c_.output.buffer, outer_};
      map.inverse.emplace_back(loop_var(i), kir::mod(row_of_output_, tile_.rows));
      map.inverse.emplace_back(loop_var(j), kir::mod(column_of_output_, tile_.columns));
      c_.kernel->output_maps.push_back(std::move(map));
      const Affine n = column(panel, j);
      auto write = [&] {
        c_.e.enter_block();
        const auto ranges = c_.b.ranges();
        c_.finish(p_.output(b, delinearize(first_row + i, p_.m, ranges), delinearize(n, p_.n, ranges)), c_.b.convert(c_.b.load(tile, {i, j}), p_.dtype));
      };
      const auto guard = wanted(n);
      guard.empty() ? write() : c_.b.when(guard, write);
    });
  }

  void chain(BufferId packed, const Indices& b, const Affine& first_row, int rows, const Affine& first, std::int64_t count, BufferId sum) {
    const auto acc = c_.b.alloc("acc", acc_type_, {rows, tile_.columns});
    each(rows, true, [&](Affine i, Affine j) { c_.b.store(acc, {i, j}, c_.b.constant(acc_type_, 0)); });
    c_.b.loop("k", count, kir::LoopKind::serial, [&](Affine s) {
      const Affine k = first + s;
      c_.b.loop("i", rows, kir::LoopKind::unrolled, [&](Affine i) {
        c_.e.enter_block();
        const auto ranges = c_.b.ranges();
        const auto a = p_.lhs(b, delinearize(first_row + i, p_.m, ranges), delinearize(k, p_.k, ranges));
        c_.b.loop("j", tile_.columns, kir::LoopKind::vector, [&](Affine j) { c_.b.combine_fma(acc, {i, j}, a, c_.b.load(packed, {k, j}), reduction_); }, c_.width());
      });
    });
    each(rows, true, [&](Affine i, Affine j) { c_.b.combine(sum, {i, j}, fn_id<scalar::Add>, c_.b.load(acc, {i, j}), reduction_); });
  }

  void fill(BufferId to, int rows, double value) {
    each(rows, false, [&](Affine i, Affine j) { c_.b.store(to, {i, j}, c_.b.constant(acc_type_, value)); });
  }
  /// The tile's elements: rows unrolled when they are registers.
  void each(int rows, bool registers, const std::function<void(Affine, Affine)>& body) {
    c_.b.loop("i", rows, registers ? kir::LoopKind::unrolled : kir::LoopKind::serial, [&](Affine i) {
      c_.b.loop("j", tile_.columns, kir::LoopKind::vector, [&](Affine j) { body(i, j); }, c_.width());
    });
  }

  KernelContext& c_;
  const Contraction& p_;
  int reduction_;
  Tile tile_;
  DType acc_type_;
  std::int64_t terms_, columns_, rows_, share_ = 1;
  std::vector<std::pair<kir::VarId, Affine>> outer_;   ///< inverse of the loops around a block of rows
  Affine row_of_output_, column_of_output_;
};

}  // namespace

void lower_tiled(KernelContext& c, const Contraction& p, int reduction) {
  c.kernel->schedule = p.convolution ? "convolution_tiled" : "dot_tiled";
  Tiled(c, p, reduction).run();
}

}  // namespace plumb::lowering

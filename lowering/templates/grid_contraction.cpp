#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

constexpr std::int64_t edge = 16;   ///< of a tile: rows, columns, and terms that pass through shared memory at once

std::int64_t pieces(std::int64_t n) { return (n + edge - 1) / edge; }

class GridContraction {
 public:
  GridContraction(KernelContext& c, const Contraction& p, int reduction)
      : c_(c), p_(p), reduction_(reduction), acc_type_(c.accumulator_dtype(p.dtype)), rows_(element_count(p.m)), columns_(element_count(p.n)),
        terms_(p.terms() - (c.options.fault == Fault::dropped_term && p.terms() > 1 ? 1 : 0)) {}

  void run() {
    c_.b.loop("bz", element_count(p_.batch), kir::LoopKind::gpu_block, [&](Affine bz) {
      c_.b.loop("by", pieces(rows_), kir::LoopKind::gpu_block, [&](Affine by) {
        c_.b.loop("bx", pieces(columns_), kir::LoopKind::gpu_block, [&](Affine bx) {
          a_ = c_.b.alloc("a_tile", p_.dtype, {edge, edge}, kir::Space::shared);
          w_ = c_.b.alloc("b_tile", p_.dtype, {edge, edge}, kir::Space::shared);
          c_.b.loop("ty", edge, kir::LoopKind::gpu_thread, [&](Affine ty) {
            c_.b.loop("tx", edge, kir::LoopKind::gpu_thread, [&](Affine tx) {
              declare_map(bz, by, bx, ty, tx);
              thread(bz, by, bx, ty, tx);
            }, 0);
          }, 1);
        }, 0);
      }, 1);
    }, 2);
  }

 private:
  void declare_map(const Affine& bz, const Affine& by, const Affine& bx, const Affine& ty, const Affine& tx) {
    Indices b, m, n;
    p_.coordinates(output_coordinates(c_), b, m, n);
    const Affine row = flat_index(m, p_.m), column = flat_index(n, p_.n);
    c_.kernel->output_maps.push_back({c_.output.buffer, {{loop_var(bz), flat_index(b, p_.batch)}, {loop_var(by), kir::floor_div(row, edge)}, {loop_var(bx), kir::floor_div(column, edge)},
                                                         {loop_var(ty), kir::mod(row, edge)}, {loop_var(tx), kir::mod(column, edge)}}});
  }

  void thread(const Affine& bz, const Affine& by, const Affine& bx, const Affine& ty, const Affine& tx) {
    batch_ = delinearize(bz, p_.batch, c_.b.ranges());
    ty_ = ty, tx_ = tx, row_ = by * edge + ty, column_ = bx * edge + tx;
    const auto acc = c_.b.alloc("acc", acc_type_, {1});
    BufferId result = acc;
    if (terms_ <= chain_steps) {
      chain(acc, 0, terms_);
    } else {
      const auto block = c_.b.alloc("block", acc_type_, {1});
      result = c_.b.alloc("total", acc_type_, {1});
      start(result, -0.0);
      const auto one = [&](const Affine& first, std::int64_t count) { one_block(acc, block, result, first, count); };
      if (terms_ >= block_terms) c_.b.loop("q", terms_ / block_terms, kir::LoopKind::serial, [&](Affine q) { one(q * block_terms, block_terms); });
      if (terms_ % block_terms) one(terms_ / block_terms * block_terms, terms_ % block_terms);
    }
    const auto write = [&] {
      c_.e.enter_block();
      const auto ranges = c_.b.ranges();
      c_.finish(p_.output(batch_, delinearize(row_, p_.m, ranges), delinearize(column_, p_.n, ranges)), c_.b.convert(c_.b.load(result, {0}), p_.dtype));
    };
    auto wanted = limit(row_, rows_);
    const auto column = limit(column_, columns_);
    wanted.insert(wanted.end(), column.begin(), column.end());
    wanted.empty() ? write() : c_.b.when(wanted, write);
  }

  /// Up to 4,096 terms: chains of 128, then their sum into the total.
  void one_block(BufferId acc, BufferId block, BufferId total, const Affine& first, std::int64_t count) {
    start(block, -0.0);
    const auto one = [&](const Affine& from, std::int64_t steps) {
      chain(acc, from, steps);
      add(block, acc);
    };
    if (count >= chain_steps) c_.b.loop("c", count / chain_steps, kir::LoopKind::serial, [&](Affine i) { one(first + i * chain_steps, chain_steps); });
    if (count % chain_steps) one(first + count / chain_steps * chain_steps, count % chain_steps);
    add(total, block);
  }

  void chain(BufferId acc, const Affine& first, std::int64_t count) {
    start(acc, 0);
    if (count >= edge) c_.b.loop("t", count / edge, kir::LoopKind::serial, [&](Affine t) { step(acc, first + t * edge, edge); });
    if (count % edge) step(acc, first + count / edge * edge, count % edge);
  }

  /// Every thread brings one element of each tile in, then takes `count` multiply-add steps. Elements outside are zeros
  /// that no thread of the result uses.
  void step(BufferId acc, const Affine& first, std::int64_t count) {
    c_.e.enter_block();
    const auto ranges = c_.b.ranges();
    const auto inside = [&](const Affine& x, std::int64_t size, const Affine& place) {
      auto p = limit(x, size);
      if (count < edge) p.push_back(kir::below(place, count));
      return p;
    };
    c_.b.store(a_, {ty_, tx_}, p_.lhs(batch_, delinearize(row_, p_.m, ranges), delinearize(first + tx_, p_.k, ranges), inside(row_, rows_, tx_)));
    c_.b.store(w_, {ty_, tx_}, p_.rhs(batch_, delinearize(first + ty_, p_.k, ranges), delinearize(column_, p_.n, ranges), inside(column_, columns_, ty_)));
    barrier();
    c_.b.loop("k", count, kir::LoopKind::serial, [&](Affine k) { c_.b.combine_fma(acc, {0}, c_.b.load(a_, {ty_, k}), c_.b.load(w_, {k, tx_}), reduction_); });
    barrier();
  }

  static kir::Predicate limit(const Affine& x, std::int64_t size) { return size % edge ? kir::Predicate{kir::below(x, size)} : kir::Predicate{}; }
  void start(BufferId to, double value) { c_.b.store(to, {0}, c_.b.constant(acc_type_, value)); }
  void add(BufferId to, BufferId from) { c_.b.combine(to, {0}, fn_id<scalar::Add>, c_.b.load(from, {0}), reduction_); }
  void barrier() {
    if (c_.options.fault != Fault::missing_barrier) c_.b.barrier();
  }

  KernelContext& c_;
  const Contraction& p_;
  int reduction_;
  DType acc_type_;
  std::int64_t rows_, columns_, terms_;
  Indices batch_;
  Affine ty_, tx_, row_, column_;
  BufferId a_ = -1, w_ = -1;
};

}  // namespace

void lower_grid_contraction(KernelContext& c, const Contraction& p, int reduction) {
  c.kernel->schedule = p.convolution ? "grid_convolution" : "grid_dot";
  GridContraction(c, p, reduction).run();
}

}  // namespace plumb::lowering

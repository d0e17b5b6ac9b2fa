// Register tiles on a grid: a block of threads makes a tile of C, each thread tm × tn elements of it in registers, from slices of
// A and B that pass through two halves of shared memory: while one half feeds the multiply-adds, the next slice is on
// its way from memory to registers, and goes to the other half afterwards, so that a step has one barrier.
//
// The order is the canonical one. Sums of chains live in shared memory, each thread's own, because a second set of
// accumulators in registers would leave room for half as many threads; they are touched once in 128 terms. Sums of blocks
// of 4,096 terms are rarer still, and live in the thread's local memory.
//
// A warp is 4 × 8 threads. A thread's rows lie `lanes` together, so that it reads them by 16 bytes, and 4·lanes apart, so
// that its warp reads without conflict; columns likewise.
#include "lowering/templates/grid.h"
#include "lowering/templates/grid_slices.h"

namespace plumb::lowering {
namespace {

constexpr std::int64_t slice = 16, warp_rows = 4, warp_columns = 8, warp = warp_rows * warp_columns;
constexpr std::int64_t chain_slices = chain_steps / slice, block_slices = block_terms / slice;

/// Tile of a block, and of a thread.
struct Tile {
  std::int64_t rows, columns, tm, tn;
  std::int64_t threads() const { return rows / tm * (columns / tn); }
};

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Blocks that keep a large GPU busy; fewer are better made smaller, and then of more threads each.
constexpr std::int64_t busy = 128;

Tile choose_tile(const KernelContext& c, const Contraction& p) {
  const auto blocks = [&](std::int64_t edge) { return element_count(p.batch) * pieces(element_count(p.m), edge) * pieces(element_count(p.n), edge); };
  if (byte_size(p.dtype) > 4) return {32, 64, 4, 4};
  if (c.options.target.shared_bytes >= 100 << 10 && blocks(128) >= busy) return {128, 128, 8, 8};
  return blocks(64) >= 2 * busy ? Tile{64, 64, 8, 8} : Tile{64, 64, 4, 4};
}

class RegisterTiles {
 public:
  RegisterTiles(KernelContext& c, const Contraction& p, int reduction)
      : c_(c), p_(p), reduction_(reduction), tile_(choose_tile(c, p)), acc_type_(c.accumulator_dtype(p.dtype)), lanes_(byte_size(p.dtype) > 4 ? 2 : 4),
        rows_(element_count(p.m)), columns_(element_count(p.n)), terms_(p.terms() - (c.options.fault == Fault::dropped_term && p.terms() > 1 ? 1 : 0)),
        count_(pieces(terms_, slice)), slices_(c, p, {slice, tile_.threads(), lanes_, lanes_, p.dtype, true}) {}

  void run() {
    c_.b.loop("bz", element_count(p_.batch), kir::LoopKind::gpu_block, [&](Affine bz) {
      c_.b.loop("by", pieces(rows_, tile_.rows), kir::LoopKind::gpu_block, [&](Affine by) {
        c_.b.loop("bx", pieces(columns_, tile_.columns), kir::LoopKind::gpu_block, [&](Affine bx) {
          a_ = slices_.side(false, tile_.rows, by * tile_.rows);
          w_ = slices_.side(true, tile_.columns, bx * tile_.columns);
          if (terms_ > chain_steps) sums_ = c_.b.alloc("sums", acc_type_, {tile_.tm, tile_.tn / lanes_, tile_.threads(), lanes_}, kir::Space::shared);
          c_.b.loop("thread", tile_.threads(), kir::LoopKind::gpu_thread, [&](Affine thread) { block(bz, by, bx, thread); }, 0);
        }, 0);
      }, 1);
    }, 2);
  }

 private:
  void block(const Affine& bz, const Affine& by, const Affine& bx, const Affine& thread) {
    batch_ = delinearize(bz, p_.batch, c_.b.ranges());
    thread_ = thread;
    const Affine lane = kir::mod(thread, warp), number = kir::floor_div(thread, warp);
    const std::int64_t across = tile_.columns / (tile_.tn * warp_columns);
    thread_row_ = kir::floor_div(number, across) * (tile_.tm * warp_rows) + kir::floor_div(lane, warp_columns) * lanes_;
    thread_column_ = kir::mod(number, across) * (tile_.tn * warp_columns) + kir::mod(lane, warp_columns) * lanes_;
    declare_outer_loops(bz, by, bx, thread);
    slices_.start(a_, thread);
    slices_.start(w_, thread);
    a_own_ = c_.b.alloc("a", p_.dtype, {tile_.tm});
    w_own_ = c_.b.alloc("b", p_.dtype, {tile_.tn});
    acc_ = c_.b.alloc("acc", acc_type_, {tile_.tm, tile_.tn});
    fetch(0);
    put(0);
    barrier();
    if (terms_ <= chain_steps) {
      chain(0, terms_);
      return finish(acc_, true);
    }
    if (terms_ <= block_terms) {
      one_block(0, terms_);
      return finish(sums_, false);
    }
    const auto total = c_.b.alloc("total", acc_type_, {tile_.tm, tile_.tn});
    each(false, [&](const Place& e) { c_.b.store(total, e.own(), c_.b.constant(acc_type_, -0.0)); });
    const auto add = [&](const Affine& first, std::int64_t count) {
      one_block(first, count);
      each(false, [&](const Place& e) { c_.b.combine(total, e.own(), fn_id<scalar::Add>, c_.b.load(sums_, e.shared(thread_)), reduction_); });
    };
    c_.b.loop("q", terms_ / block_terms, kir::LoopKind::serial, [&](Affine q) { add(q * block_slices, block_terms); });
    if (terms_ % block_terms) add(terms_ / block_terms * block_slices, terms_ % block_terms);
    finish(total, false);
  }

  /// Up to 4,096 terms from a slice on: chains of 128, then their sum.
  void one_block(const Affine& first, std::int64_t count) {
    each(false, [&](const Place& e) { c_.b.store(sums_, e.shared(thread_), c_.b.constant(acc_type_, -0.0)); });
    const auto one = [&](const Affine& from, std::int64_t steps) {
      chain(from, steps);
      each(true, [&](const Place& e) { c_.b.combine(sums_, e.shared(thread_), fn_id<scalar::Add>, c_.b.load(acc_, e.own()), reduction_); });
    };
    if (count >= chain_steps) c_.b.loop("c", count / chain_steps, kir::LoopKind::serial, [&](Affine i) { one(first + i * chain_slices, chain_steps); });
    if (count % chain_steps) one(first + count / chain_steps * chain_slices, count % chain_steps);
  }

  void chain(const Affine& first, std::int64_t count) {
    each(true, [&](const Place& e) { c_.b.store(acc_, e.own(), c_.b.constant(acc_type_, 0)); });
    if (count >= slice) c_.b.loop("t", count / slice, kir::LoopKind::serial, [&](Affine t) { step(first + t, slice); });
    if (count % slice) step(first + count / slice, count % slice);
  }

  void step(const Affine& number, std::int64_t count) {
    const auto ranges = c_.b.ranges();
    const Affine half = kir::mod(number, 2, ranges), other = kir::mod(number + 1, 2, ranges);
    const kir::Predicate more{kir::below(number + 1, count_)};
    const bool last = number.is_constant() && number.constant() + 1 >= count_;
    if (!last) c_.b.when(more, [&] { fetch(number + 1); });
    multiply(half, count);
    if (!last) c_.b.when(more, [&] { put(other); });
    barrier();
  }

  void fetch(const Affine& number) {
    for (const auto* s : {&a_, &w_}) slices_.fetch(*s, batch_, number);
  }
  void put(const Affine& half) {
    for (const auto* s : {&a_, &w_}) slices_.put(*s, half);
  }

  void multiply(const Affine& half, std::int64_t count) {
    c_.b.loop("k", count, kir::LoopKind::unrolled, [&](Affine k) {
      own(a_.tile, a_own_, half, k, thread_row_, tile_.tm, warp_rows);
      own(w_.tile, w_own_, half, k, thread_column_, tile_.tn, warp_columns);
      c_.b.loop("i", tile_.tm, kir::LoopKind::unrolled, [&](Affine i) {
        const auto a = c_.b.load(a_own_, {i});
        c_.b.loop("g", tile_.tn / lanes_, kir::LoopKind::unrolled, [&](Affine g) {
          c_.b.loop("j", lanes_, kir::LoopKind::vector, [&](Affine j) { c_.b.combine_fma(acc_, {i, g * lanes_ + j}, a, c_.b.load(w_own_, {g * lanes_ + j}), reduction_); }, static_cast<int>(lanes_));
        });
      });
    });
  }
  void own(BufferId tile, BufferId to, const Affine& half, const Affine& k, const Affine& first, std::int64_t size, std::int64_t across) {
    c_.b.loop("g", size / lanes_, kir::LoopKind::unrolled, [&](Affine g) {
      c_.b.loop("l", lanes_, kir::LoopKind::vector, [&](Affine l) { c_.b.store(to, {g * lanes_ + l}, c_.b.load(tile, {half, k, first + g * (across * lanes_) + l})); }, static_cast<int>(lanes_));
    });
  }

  /// An element of the thread's: row r of group q, lane j of group g.
  struct Place {
    Affine q, r, g, j;
    std::int64_t lanes;
    Affine row() const { return q * lanes + r; }
    Indices own() const { return {row(), g * lanes + j}; }
    Indices shared(const Affine& thread) const { return {row(), g, thread, j}; }
  };
  void each(bool registers, const std::function<void(const Place&)>& body) {
    const auto kind = registers ? kir::LoopKind::unrolled : kir::LoopKind::serial;
    c_.b.loop("q", tile_.tm / lanes_, kind, [&](Affine q) {
      c_.b.loop("r", lanes_, kind, [&](Affine r) {
        c_.b.loop("g", tile_.tn / lanes_, kind, [&](Affine g) { c_.b.loop("j", lanes_, kir::LoopKind::vector, [&](Affine j) { body({q, r, g, j, lanes_}); }, static_cast<int>(lanes_)); });
      });
    });
  }

  /// Which block and thread write an element.
  void declare_outer_loops(const Affine& bz, const Affine& by, const Affine& bx, const Affine& thread) {
    Indices b, m, n;
    p_.coordinates(output_coordinates(c_), b, m, n);
    const Affine row = flat_index(m, p_.m), column = flat_index(n, p_.n);
    in_row_ = kir::mod(row, tile_.rows), in_column_ = kir::mod(column, tile_.columns);
    const std::int64_t high = tile_.tm * warp_rows, wide = tile_.tn * warp_columns, across = tile_.columns / wide;
    const Affine number = kir::floor_div(in_row_, high) * across + kir::floor_div(in_column_, wide);
    const Affine lane = kir::mod(kir::floor_div(in_row_, lanes_), warp_rows) * warp_columns + kir::mod(kir::floor_div(in_column_, lanes_), warp_columns);
    outer_ = {{loop_var(bz), flat_index(b, p_.batch)}, {loop_var(by), kir::floor_div(row, tile_.rows)}, {loop_var(bx), kir::floor_div(column, tile_.columns)}, {loop_var(thread), number * warp + lane}};
  }

  void finish(BufferId from, bool registers) {
    each(registers, [&](const Place& e) {
      const std::int64_t high = tile_.tm * warp_rows, wide = tile_.tn * warp_columns;
      kir::OutputMap map{c_.output.buffer, outer_};
      map.inverse.insert(map.inverse.end(), {{loop_var(e.q), kir::floor_div(kir::mod(in_row_, high), lanes_ * warp_rows)}, {loop_var(e.r), kir::mod(in_row_, lanes_)},
                                             {loop_var(e.g), kir::floor_div(kir::mod(in_column_, wide), lanes_ * warp_columns)}, {loop_var(e.j), kir::mod(in_column_, lanes_)}});
      c_.kernel->output_maps.push_back(std::move(map));
      const Affine row = a_.first + thread_row_ + e.q * (lanes_ * warp_rows) + e.r, column = w_.first + thread_column_ + e.g * (lanes_ * warp_columns);
      kir::Predicate wanted;
      if (rows_ % tile_.rows) wanted.push_back(kir::below(row, rows_));
      // Lanes are in or out together where rows of the result are whole accesses.
      if (columns_ % tile_.columns) wanted.push_back(kir::below(column + (columns_ % lanes_ ? e.j : Affine(lanes_ - 1)), columns_));
      const auto write = [&] {
        c_.e.enter_block();
        const auto ranges = c_.b.ranges();
        c_.finish(p_.output(batch_, delinearize(row, p_.m, ranges), delinearize(column + e.j, p_.n, ranges)), c_.b.convert(c_.b.load(from, from == sums_ ? e.shared(thread_) : e.own()), p_.dtype));
      };
      wanted.empty() ? write() : c_.b.when(wanted, write);
    });
  }

  void barrier() {
    if (c_.options.fault != Fault::missing_barrier) c_.b.barrier();
  }

  KernelContext& c_;
  const Contraction& p_;
  int reduction_;
  Tile tile_;
  DType acc_type_;
  std::int64_t lanes_, rows_, columns_, terms_, count_;
  Slices slices_;
  Indices batch_;
  Affine thread_, thread_row_, thread_column_, in_row_, in_column_;
  std::vector<std::pair<kir::VarId, Affine>> outer_;   ///< inverse of the loops over blocks and threads
  Side a_, w_;
  BufferId a_own_ = -1, w_own_ = -1, acc_ = -1, sums_ = -1;
};

}  // namespace

bool worth_register_tiles(const Contraction& p) { return element_count(p.m) >= 48 && element_count(p.n) >= 48 && p.terms() >= 16; }

void lower_grid_registers(KernelContext& c, const Contraction& p, int reduction) {
  c.kernel->schedule = p.convolution ? "grid_convolution_registers" : "grid_dot_registers";
  RegisterTiles(c, p, reduction).run();
}

}  // namespace plumb::lowering

// Products of narrow floats in matrix units, for contracts that let them truncate: a warp multiplies tiles of 16 × 16 that
// it loads from slices in shared memory, which arrive as in grid_register.cpp.
//
// A chain of sums in the unit ends after 128 terms, as the contract's order has it: then it goes, through the warp's own
// part of shared memory, to sums that are rounded, each thread's own, neighbours along a row: the result's elements
// as memory wants them written, and as what is fused after the product wants them.
#include "lowering/templates/grid.h"
#include "lowering/templates/grid_slices.h"

namespace plumb::lowering {
namespace {

constexpr std::int64_t edge = 16, slice = 32, warp = 32, run = 8;   ///< run: neighbours of one thread along a row
constexpr std::int64_t chain_slices = chain_steps / slice, block_slices = block_terms / slice, pad = 8;

/// Warps of a block, tiles of 16 × 16 of a warp.
struct Shape {
  std::int64_t warps_m, warps_n, high, wide;
  std::int64_t rows() const { return warps_m * high * edge; }
  std::int64_t columns() const { return warps_n * wide * edge; }
  std::int64_t warps() const { return warps_m * warps_n; }
};

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

Shape choose_shape(const KernelContext& c, const Contraction& p) {
  constexpr std::int64_t busy = 64;
  const Shape large{2, 4, 4, 2};
  const std::int64_t blocks = element_count(p.batch) * pieces(element_count(p.m), large.rows()) * pieces(element_count(p.n), large.columns());
  return c.options.target.shared_bytes >= 120 << 10 && blocks >= busy ? large : Shape{2, 2, 2, 2};
}

class Tiles {
 public:
  Tiles(KernelContext& c, const Contraction& p, int reduction)
      : c_(c), p_(p), reduction_(reduction), shape_(choose_shape(c, p)), factor_(c.spec.type(c.anchor_node().operands[0]).dtype), rows_(element_count(p.m)), columns_(element_count(p.n)),
        terms_(p.terms()), count_(pieces(terms_, slice)), slices_(c, p, {slice, shape_.warps() * warp, run, pad, factor_, false}) {}

  void run_blocks() {
    c_.b.loop("bz", element_count(p_.batch), kir::LoopKind::gpu_block, [&](Affine bz) {
      c_.b.loop("by", pieces(rows_, shape_.rows()), kir::LoopKind::gpu_block, [&](Affine by) {
        c_.b.loop("bx", pieces(columns_, shape_.columns()), kir::LoopKind::gpu_block, [&](Affine bx) {
          a_ = slices_.side(false, shape_.rows(), by * shape_.rows());
          w_ = slices_.side(true, shape_.columns(), bx * shape_.columns());
          chains_ = c_.b.alloc("chains", DType::f32, {shape_.warps(), shape_.high * edge, shape_.wide * edge + pad / 2}, kir::Space::shared);
          c_.b.loop("thread", shape_.warps() * warp, kir::LoopKind::gpu_thread, [&](Affine thread) { block(bz, by, bx, thread); }, 0);
        }, 0);
      }, 1);
    }, 2);
  }

 private:
  void block(const Affine& bz, const Affine& by, const Affine& bx, const Affine& thread) {
    batch_ = delinearize(bz, p_.batch, c_.b.ranges());
    warp_ = kir::floor_div(thread, warp);
    const Affine lane = kir::mod(thread, warp);
    warp_row_ = kir::floor_div(warp_, shape_.warps_n) * (shape_.high * edge), warp_column_ = kir::mod(warp_, shape_.warps_n) * (shape_.wide * edge);
    own_row_ = kir::floor_div(lane, across()), own_column_ = kir::mod(lane, across()) * run;
    declare_outer_loops(bz, by, bx, thread);
    slices_.start(a_, thread);
    slices_.start(w_, thread);
    for (std::int64_t i = 0; i < shape_.high; ++i) a_tiles_.push_back(c_.b.alloc("a" + std::to_string(i), factor_, {edge, edge}, kir::Space::fragment));
    for (std::int64_t j = 0; j < shape_.wide; ++j) w_tiles_.push_back(c_.b.alloc("b" + std::to_string(j), factor_, {edge, edge}, kir::Space::fragment));
    for (std::int64_t i = 0; i < shape_.high * shape_.wide; ++i) sums_.push_back(c_.b.alloc("sums" + std::to_string(i), DType::f32, {edge, edge}, kir::Space::fragment));
    fetch(0);
    put(0);
    barrier(kir::Scope::block);
    if (terms_ <= chain_steps) {
      chain(0, terms_);
      return finish(-1);
    }
    block_ = c_.b.alloc("block", DType::f32, {passes(), run});
    if (terms_ <= block_terms) {
      one_block(0, terms_);
      return finish(block_);
    }
    const auto total = c_.b.alloc("total", DType::f32, {passes(), run});
    start(total);
    const auto add = [&](const Affine& first, std::int64_t count) {
      one_block(first, count);
      each([&](const Affine& pass, const Affine& j) { c_.b.combine(total, {pass, j}, fn_id<scalar::Add>, c_.b.load(block_, {pass, j}), reduction_); });
    };
    c_.b.loop("q", terms_ / block_terms, kir::LoopKind::serial, [&](Affine q) { add(q * block_slices, block_terms); });
    if (terms_ % block_terms) add(terms_ / block_terms * block_slices, terms_ % block_terms);
    finish(total);
  }

  void one_block(const Affine& first, std::int64_t count) {
    start(block_);
    const auto one = [&](const Affine& from, std::int64_t steps) {
      chain(from, steps);
      each([&](const Affine& pass, const Affine& j) { c_.b.combine(block_, {pass, j}, fn_id<scalar::Add>, c_.b.load(chains_, own(pass, j)), reduction_); });
    };
    if (count >= chain_steps) c_.b.loop("c", count / chain_steps, kir::LoopKind::serial, [&](Affine i) { one(first + i * chain_slices, chain_steps); });
    if (count % chain_steps) one(first + count / chain_steps * chain_slices, count % chain_steps);
  }

  /// Up to 128 terms from a slice on, in the unit; their sums are then in the warp's shared memory, for its threads to read,
  /// which the barrier of the next chain's first step ends.
  void chain(const Affine& first, std::int64_t count) {
    const auto zero = c_.b.constant(DType::f32, 0);
    for (auto s : sums_) c_.b.emit(kir::TileFill{s, zero});
    if (count >= slice) c_.b.loop("t", count / slice, kir::LoopKind::serial, [&](Affine t) { step(first + t, slice); });
    if (count % slice) step(first + count / slice, count % slice);
    for (std::int64_t i = 0; i < shape_.high; ++i)
      for (std::int64_t j = 0; j < shape_.wide; ++j) c_.b.emit(kir::TileStore{chains_, {warp_, i * edge, j * edge}, sum(i, j)});
    barrier(kir::Scope::warp);
  }

  void step(const Affine& number, std::int64_t count) {
    const auto ranges = c_.b.ranges();
    const Affine half = kir::mod(number, 2, ranges), other = kir::mod(number + 1, 2, ranges);
    const kir::Predicate more{kir::below(number + 1, count_)};
    const bool last = number.is_constant() && number.constant() + 1 >= count_;
    if (!last) c_.b.when(more, [&] { fetch(number + 1); });
    for (std::int64_t k = 0; k < count; k += edge) multiply(half, k);
    if (!last) c_.b.when(more, [&] { put(other); });
    barrier(kir::Scope::block);
  }

  void multiply(const Affine& half, std::int64_t k) {
    const auto load = [&](BufferId tile, const Side& s, const Affine& place) {
      // A's tiles have a row a row, B's a row a term.
      c_.b.emit(kir::TileLoad{tile, s.tile, s.turned ? Indices{half, place, k} : Indices{half, k, place}, s.turned == s.rhs});
    };
    for (std::int64_t i = 0; i < shape_.high; ++i) load(a_tiles_[static_cast<std::size_t>(i)], a_, warp_row_ + i * edge);
    for (std::int64_t j = 0; j < shape_.wide; ++j) load(w_tiles_[static_cast<std::size_t>(j)], w_, warp_column_ + j * edge);
    for (std::int64_t i = 0; i < shape_.high; ++i)
      for (std::int64_t j = 0; j < shape_.wide; ++j)
        c_.b.emit(kir::TileMma{sum(i, j), a_tiles_[static_cast<std::size_t>(i)], w_tiles_[static_cast<std::size_t>(j)], kir::Scope::warp, reduction_});
  }

  void fetch(const Affine& number) {
    for (const auto* s : {&a_, &w_}) slices_.fetch(*s, batch_, number);
  }
  void put(const Affine& half) {
    for (const auto* s : {&a_, &w_}) slices_.put(*s, half);
  }

  BufferId sum(std::int64_t i, std::int64_t j) const { return sums_[static_cast<std::size_t>(i * shape_.wide + j)]; }
  /// A warp's threads cover so many runs of a row, and its rows in so many passes.
  std::int64_t across() const { return shape_.wide * edge / run; }
  std::int64_t down() const { return warp / across(); }
  std::int64_t passes() const { return shape_.high * edge / down(); }
  Indices own(const Affine& pass, const Affine& j) const { return {warp_, own_row_ + pass * down(), own_column_ + j}; }
  void each(const std::function<void(const Affine& pass, const Affine& j)>& body) {
    c_.b.loop("p", passes(), kir::LoopKind::unrolled, [&](Affine pass) { c_.b.loop("j", run, kir::LoopKind::vector, [&](Affine j) { body(pass, j); }, run); });
  }
  void start(BufferId to) {
    each([&](const Affine& pass, const Affine& j) { c_.b.store(to, {pass, j}, c_.b.constant(DType::f32, -0.0)); });
  }

  /// Which block and thread write an element.
  void declare_outer_loops(const Affine& bz, const Affine& by, const Affine& bx, const Affine& thread) {
    Indices b, m, n;
    p_.coordinates(output_coordinates(c_), b, m, n);
    const Affine row = flat_index(m, p_.m), column = flat_index(n, p_.n);
    in_row_ = kir::mod(row, shape_.high * edge), in_column_ = kir::mod(column, shape_.wide * edge);
    const Affine number = kir::floor_div(kir::mod(row, shape_.rows()), shape_.high * edge) * shape_.warps_n + kir::floor_div(kir::mod(column, shape_.columns()), shape_.wide * edge);
    outer_ = {{loop_var(bz), flat_index(b, p_.batch)}, {loop_var(by), kir::floor_div(row, shape_.rows())}, {loop_var(bx), kir::floor_div(column, shape_.columns())},
              {loop_var(thread), number * warp + kir::mod(in_row_, down()) * across() + kir::floor_div(in_column_, run)}};
  }

  /// From each thread's own sums, or from the warp's chains where there is but one.
  void finish(BufferId from) {
    each([&](const Affine& pass, const Affine& j) {
      kir::OutputMap map{c_.output.buffer, outer_};
      map.inverse.insert(map.inverse.end(), {{loop_var(pass), kir::floor_div(in_row_, down())}, {loop_var(j), kir::mod(in_column_, run)}});
      c_.kernel->output_maps.push_back(std::move(map));
      const Affine row = a_.first + warp_row_ + own_row_ + pass * down(), column = w_.first + warp_column_ + own_column_;
      kir::Predicate wanted;
      if (rows_ % shape_.rows()) wanted.push_back(kir::below(row, rows_));
      if (columns_ % shape_.columns()) wanted.push_back(kir::below(column + (run - 1), columns_));
      const auto write = [&] {
        c_.e.enter_block();
        const auto ranges = c_.b.ranges();
        c_.finish(p_.output(batch_, delinearize(row, p_.m, ranges), delinearize(column + j, p_.n, ranges)), from < 0 ? c_.b.load(chains_, own(pass, j)) : c_.b.load(from, {pass, j}));
      };
      wanted.empty() ? write() : c_.b.when(wanted, write);
    });
  }

  void barrier(kir::Scope scope) {
    if (c_.options.fault != Fault::missing_barrier) c_.b.barrier(scope);
  }

  KernelContext& c_;
  const Contraction& p_;
  int reduction_;
  Shape shape_;
  DType factor_;
  std::int64_t rows_, columns_, terms_, count_;
  Slices slices_;
  Indices batch_;
  Affine warp_, warp_row_, warp_column_, own_row_, own_column_, in_row_, in_column_;
  std::vector<std::pair<kir::VarId, Affine>> outer_;   ///< inverse of the loops over blocks and threads
  Side a_, w_;
  std::vector<BufferId> a_tiles_, w_tiles_, sums_;
  BufferId chains_ = -1, block_ = -1;
};

}  // namespace

/// The unit takes 16 terms at once, and a term too many would be a step too many; rows of the result are written by runs.
bool fits_matrix_units(const KernelContext& c, const Contraction& p) {
  const DType t = c.spec.type(c.anchor_node().operands[0]).dtype;
  return c.options.contract != Contract::strict && (t == DType::bf16 || t == DType::f16) && c.accumulator_dtype(p.dtype) == DType::f32 && c.options.fault != Fault::dropped_term &&
         p.terms() % edge == 0 && element_count(p.n) % run == 0 && c.options.target.warp == warp;
}

void lower_grid_tiles(KernelContext& c, const Contraction& p, int reduction) {
  c.kernel->schedule = p.convolution ? "grid_convolution_tiles" : "grid_dot_tiles";
  c.kernel->reductions[static_cast<std::size_t>(reduction)].truncates = true;
  Tiles(c, p, reduction).run_blocks();
}

}  // namespace plumb::lowering

// A row is a block's. Lane l of group g has the elements whose places are l in each 256 of the chunks g, g + groups, …, so
// that the lanes of the canonical order are threads; what is kept of a row stays in its threads' registers, or, of long rows,
// in the block's shared memory, where each thread touches its own elements alone.
#include <bit>

#include "lowering/templates/grid.h"
#include "ir/tensor/op_table.h"
#include "lowering/templates/rows.h"

namespace plumb::lowering {
namespace {

using ir::ValueId;

constexpr std::int64_t most_groups = 4, in_registers = 16384;

using Inverse = std::vector<std::pair<kir::VarId, Affine>>;

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// Which buffer keeps which value: one whose value is read no more serves again.
struct Keeping {
  std::map<ValueId, std::size_t> buffer_of;
  std::vector<DType> buffers;
};

Keeping share_buffers(const KernelContext& c, const RowPlan& plan, bool shared) {
  Keeping r;
  std::vector<std::size_t> busy_until;
  for (std::size_t p = 0; p < plan.passes.size(); ++p)
    for (auto v : plan.passes[p].keeps) {
      const bool input = c.spec.value(v).node < 0;
      const DType t = shared && input ? c.spec.type(v).dtype : Emitter::compute_dtype(c.spec.type(v).dtype);
      std::size_t k = 0;
      while (k < r.buffers.size() && (busy_until[k] > p || r.buffers[k] != t)) ++k;
      if (k == r.buffers.size()) r.buffers.push_back(t), busy_until.push_back(0);
      busy_until[k] = plan.last_read.at(v);
      r.buffer_of[v] = k;
    }
  return r;
}

class GridRow {
 public:
  GridRow(RowContext& r) : r_(r), c_(r.c), columns_(r.columns()), warp_(c_.options.target.warp), lanes_(pieces(std::min(columns_, reduction_lanes), warp_) * warp_), chunks_(pieces(columns_, reduction_chunk)), groups_(std::min(chunks_, most_groups)), rounds_(pieces(chunks_, groups_)), long_row_(columns_ > in_registers), keeping_(share_buffers(c_, r.plan, long_row_)) {
    for (std::size_t d = 0; d + 1 < c_.shape.size(); ++d) row_shape_.push_back(c_.shape[d]);
  }

  void run() {
    c_.b.loop("row", r_.rows(), kir::LoopKind::gpu_block, [&](Affine block) {
      inverse_.emplace_back(loop_var(block), flat_index(row_coordinates(), row_shape_));
      row_ = delinearize(block, row_shape_, c_.b.ranges());
      c_.b.loop("group", groups_, kir::LoopKind::gpu_thread, [&](Affine group) {
        inverse_.emplace_back(loop_var(group), kir::mod(kir::floor_div(column_of_output(), reduction_chunk), groups_));
        c_.b.loop("lane", lanes_, kir::LoopKind::gpu_thread, [&](Affine lane) {
          inverse_.emplace_back(loop_var(lane), kir::mod(column_of_output(), reduction_lanes));
          group_ = group, lane_ = lane;
          thread();
        }, 0);
      }, 1);
    }, 0);
  }

 private:
  /// An element of the thread's: its column, and its place among what the thread keeps.
  struct Element { Affine column, place; };
  struct Running { int node; FnId fn; DType dtype; int reduction; BufferId acc; };

  Affine column_of_output() const { return Affine::coordinate(static_cast<int>(c_.shape.size()) - 1); }
  Indices row_coordinates() const {
    Indices at;
    for (std::size_t d = 0; d + 1 < c_.shape.size(); ++d) at.push_back(Affine::coordinate(static_cast<int>(d)));
    return at;
  }
  Indices element(const Affine& column) const {
    auto at = row_;
    at.push_back(column);
    return at;
  }
  void barrier() {
    if (c_.options.fault != Fault::missing_barrier) c_.b.barrier();
  }

  void thread() {
    make_room();
    for (std::size_t p = 0; p + 1 < r_.plan.passes.size(); ++p) {
      const auto& pass = r_.plan.passes[p];
      std::vector<Running> running;
      for (int k : pass.reductions) running.push_back(start(k));
      each_element([&](const Element& e, bool first) {
        with_kept(pass, e, [&] {
          for (const auto& a : running) take(a, e, first);
          for (auto v : pass.keeps) c_.b.store(kept(v), {where(e)}, c_.b.convert(c_.e.at(v, element(e.column)), c_.b.info(kept(v)).dtype));
        });
      }, false);
      for (const auto& a : running) r_.bind_reduction(a.node, combine(a));
      c_.e.enter_block();
      r_.bind_row_values(pass, row_);
    }
    each_element([&](const Element& e, bool) {
      with_kept(r_.plan.passes.back(), e, [&] { c_.e.store(c_.output, element(e.column), c_.e.at(c_.root, element(e.column)), c_.spec.type(c_.root).dtype); });
    }, true);
  }

  /// Calls `body` in code for each of the thread's elements; `first` where it is the first of a chunk.
  void each_element(const std::function<void(const Element&, bool first)>& body, bool stores) {
    const std::int64_t steps = reduction_chunk / reduction_lanes;
    const auto map = [&](Inverse inverse) {
      if (stores) c_.kernel->output_maps.push_back({c_.output.buffer, std::move(inverse)});
    };
    const auto one = [&](const Affine& round, const Affine& step, bool first) {
      c_.e.enter_block();
      body({(round * groups_ + group_) * reduction_chunk + step * reduction_lanes + lane_, round * steps + step}, first);
    };
    const auto guarded = [&](const Affine& round, std::int64_t step) {
      const Affine column = (round * groups_ + group_) * reduction_chunk + step * reduction_lanes + lane_;
      const std::int64_t wanted = columns_ - (stores && c_.options.fault == Fault::tail_mask ? 1 : 0);
      c_.b.when({kir::below(column, wanted)}, [&] { one(round, step, step == 0); });
    };
    const std::int64_t whole = columns_ / (reduction_chunk * groups_);
    if (whole > 0) {
      c_.b.loop("q", whole, kir::LoopKind::unrolled, [&](Affine q) {
        auto inverse = inverse_;
        inverse.emplace_back(loop_var(q), kir::floor_div(column_of_output(), reduction_chunk * groups_));
        one(q, 0, true);
        map(inverse);
        rest_of_chunk(q, 1, steps, inverse, one, map);
      });
    }
    if (whole == rounds_) return;
    const std::int64_t full = groups_ == 1 ? columns_ / reduction_lanes : 0, all = groups_ == 1 ? pieces(columns_, reduction_lanes) : steps;
    if (full > 0) {
      one(whole, 0, true);
      map(inverse_);
      rest_of_chunk(whole, 1, full, inverse_, one, map);
    }
    for (std::int64_t s = full; s < all; ++s) {
      guarded(whole, s);
      map(inverse_);
    }
  }
  void rest_of_chunk(const Affine& round, std::int64_t from, std::int64_t to, Inverse inverse, const std::function<void(const Affine&, const Affine&, bool)>& one, const std::function<void(Inverse)>& map) {
    if (to <= from) return;
    c_.b.loop("s", to - from, kir::LoopKind::unrolled, [&](Affine s) {
      inverse.emplace_back(loop_var(s), kir::floor_div(kir::mod(column_of_output(), reduction_chunk), reduction_lanes) - from);
      one(round, s + from, false);
      map(inverse);
    });
  }

  // ── what is kept ──

  Affine where(const Element& e) const { return long_row_ ? e.column : e.place; }
  BufferId kept(ValueId v) const { return kept_.at(keeping_.buffer_of.at(v)); }

  void make_room() {
    for (auto t : keeping_.buffers) kept_.push_back(c_.b.alloc("kept", t, {long_row_ ? columns_ : rounds_ * (reduction_chunk / reduction_lanes)}, long_row_ ? kir::Space::shared : kir::Space::local));
  }
  void with_kept(const RowPass& pass, const Element& e, const std::function<void()>& body) {
    for (auto v : pass.reads) c_.e.bind(v, c_.b.convert(c_.b.load(kept(v), {where(e)}), Emitter::compute_dtype(c_.spec.type(v).dtype)));
    body();
    for (auto v : pass.reads) c_.e.unbind(v);
  }

  // ── reductions ──

  /// A running value for each of the thread's chunks. Lanes without a term, of a last short chunk, bring the identity.
  Running start(int k) {
    const DType t = r_.dtype_of(k);
    const FnId fn = r_.function_of(k);
    Running a{k, fn, c_.accumulator_dtype(t), r_.reduction_of.at(k), -1};
    a.acc = c_.b.alloc("acc", a.dtype, {rounds_});
    if (columns_ % (reduction_chunk * groups_) == 0 || (groups_ == 1 && columns_ >= reduction_lanes)) return a;
    const bool adds = fn == fn_id<scalar::Add> && is_float(t);
    c_.b.store(a.acc, {rounds_ - 1}, adds ? c_.b.constant(a.dtype, -0.0) : reduction_identity(c_, fn, t, a.dtype));
    return a;
  }
  void take(const Running& a, const Element& e, bool first) {
    const auto term = c_.b.convert(c_.e.at(r_.node(a.node).operands[0], element(e.column)), a.dtype);
    const Affine round = kir::floor_div(e.place, reduction_chunk / reduction_lanes, c_.b.ranges());
    if (first) return c_.b.store(a.acc, {round}, term);
    if (c_.options.fault == Fault::dropped_term && columns_ > 1) return c_.b.when({kir::below(e.column, columns_ - 1)}, [&] { c_.b.combine(a.acc, {round}, a.fn, term, a.reduction); });
    c_.b.combine(a.acc, {round}, a.fn, term, a.reduction);
  }

  /// The whole row's value, the same in every thread.
  ScalarId combine(const Running& a) {
    c_.e.enter_block();
    const std::int64_t lanes = std::bit_ceil(static_cast<std::uint64_t>(std::min(columns_, reduction_lanes)));
    if (lanes_ == warp_ && chunks_ == 1) return within_warp(a, c_.b.load(a.acc, {0}), lanes);
    const auto [parts, top] = exchange(a.dtype);
    c_.b.loop("q", rounds_, kir::LoopKind::unrolled, [&](Affine q) { c_.b.store(parts, {q, group_, lane_}, c_.b.load(a.acc, {q})); });
    barrier();
    if (chunks_ == 1) return within_warp(a, across_warps(a, parts, 0, 0, lanes), warp_);
    const Affine thread = group_ * lanes_ + lane_, number = kir::floor_div(thread, warp_, c_.b.ranges());
    c_.b.when({kir::below(number, chunks_)}, [&] {
      const auto s = within_warp(a, across_warps(a, parts, kir::floor_div(number, groups_, c_.b.ranges()), kir::mod(number, groups_, c_.b.ranges()), lanes), warp_);
      c_.b.when({{kir::mod(thread, warp_, c_.b.ranges()), true}}, [&] { c_.b.store(top, {number}, s); });
    });
    barrier();
    return tree(a, chunks_, [&](std::int64_t k) { return c_.b.load(top, {k}); });
  }

  /// Where threads leave values for one another. With many chunks there are two barriers a reduction, so the next one's values
  /// may come to the same places.
  std::pair<BufferId, BufferId> exchange(DType t) {
    if (const auto it = exchange_.find(t); it != exchange_.end()) return it->second;
    const auto parts = c_.b.alloc("parts", t, {rounds_, groups_, lanes_}, kir::Space::shared);
    if (chunks_ == 1) return {parts, -1};
    return exchange_[t] = {parts, c_.b.alloc("top", t, {chunks_}, kir::Space::shared)};
  }

  /// A chunk's lanes that lie a warp's width apart, added up by whoever asks.
  ScalarId across_warps(const Running& a, BufferId parts, const Affine& round, const Affine& group, std::int64_t lanes) {
    const Affine lane = kir::mod(lane_, warp_, c_.b.ranges());
    return tree(a, std::min(lanes, lanes_) / warp_, [&](std::int64_t w) { return c_.b.load(parts, {round, group, lane + w * warp_}); });
  }

  /// Halving, of values that stand in code.
  ScalarId tree(const Running& a, std::int64_t n, const std::function<ScalarId(std::int64_t)>& value) {
    const auto halves = c_.b.alloc("halves", a.dtype, {n});
    for (std::int64_t k = 0; k < n; ++k) c_.b.store(halves, {k}, value(k));
    for (std::int64_t h = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))) / 2; h >= 1; h /= 2) {
      for (std::int64_t k = 0; k < std::min(h, n - h); ++k) c_.b.combine(halves, {k}, a.fn, c_.b.load(halves, {k + h}), a.reduction);
      n = h;
    }
    return c_.b.load(halves, {0});
  }

  /// Each lane adds what the lane across has: the same sums in both, so that all lanes end with the result.
  ScalarId within_warp(const Running& a, ScalarId own, std::int64_t lanes) {
    const auto sum = c_.b.alloc("sum", a.dtype, {1});
    c_.b.store(sum, {0}, own);
    for (std::int64_t h = lanes / 2; h >= 1; h /= 2) c_.b.combine(sum, {0}, a.fn, c_.b.shuffle(c_.b.load(sum, {0}), kir::ShuffleMode::bit_xor, h), a.reduction);
    return c_.b.load(sum, {0});
  }

  RowContext& r_;
  KernelContext& c_;
  const std::int64_t columns_, warp_, lanes_, chunks_, groups_, rounds_;
  Extents row_shape_;
  Indices row_;
  Affine group_, lane_;
  Inverse inverse_;
  const bool long_row_;
  const Keeping keeping_;
  std::vector<BufferId> kept_;
  std::map<DType, std::pair<BufferId, BufferId>> exchange_;   ///< of rows of many chunks: parts and sums of chunks
};

/// Whether shared memory holds what a long row keeps beside what its reductions pass around.
bool keeps_fit(const KernelContext& c, const RowPlan& plan) {
  const std::int64_t columns = c.shape.back();
  if (columns <= in_registers) return true;
  std::set<DType> dtypes;
  for (const auto& pass : plan.passes)
    for (int k : pass.reductions) dtypes.insert(accumulator(c.spec.type(c.spec.nodes[static_cast<std::size_t>(k)].operands[0]).dtype));
  std::int64_t bytes = 0;
  for (auto t : dtypes) bytes += (pieces(columns, reduction_chunk * most_groups) * most_groups * reduction_lanes + 64) * byte_size(t);
  for (auto t : share_buffers(c, plan, true).buffers) bytes += columns * byte_size(t) + 128;
  return bytes + 256 <= c.options.target.shared_bytes;
}

}  // namespace

void lower_rows_on_grid(KernelContext& c) {
  const auto keeps = keeps_fit(c, plan_rows(c, Keep::all)) ? Keep::all : Keep::nothing;
  RowContext r(c, keeps);
  GridRow(r).run();
}

}  // namespace plumb::lowering

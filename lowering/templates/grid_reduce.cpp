#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

using Term = std::function<ScalarId(const Affine&)>;

/// What the threads of one block do together. Each thread's running value stands in `acc_`; the result ends in thread 0's.
class BlockReduce {
 public:
  BlockReduce(KernelContext& c, FnId fn, DType dtype, int reduction, std::int64_t threads) : c_(c), fn_(fn), dtype_(dtype), reduction_(reduction), threads_(threads) {}

  void run(const Affine& thread, std::int64_t terms, const Term& term) {
    thread_ = thread;
    acc_ = c_.b.alloc("acc", dtype_, {1});
    levels(terms, term);
  }
  ScalarId result() { return c_.b.load(acc_, {0}); }

 private:
  void levels(std::int64_t n, const Term& term) {
    if (n <= reduction_chunk) return chunk(n, term);
    const std::int64_t full = n / reduction_chunk, rest = n % reduction_chunk;
    const auto partial = c_.b.alloc("partial", dtype_, {full + (rest > 0)}, kir::Space::shared);
    const auto one = [&](const Affine& k, std::int64_t terms) {
      chunk(terms, [&](const Affine& i) { return term(k * reduction_chunk + i); });
      only(1, [&] { c_.b.store(partial, {k}, c_.b.load(acc_, {0})); });
      barrier();
    };
    c_.b.loop("k", full, kir::LoopKind::serial, [&](Affine k) { one(k, reduction_chunk); });
    if (rest > 0) one(full, rest);
    levels(full + (rest > 0), [&](const Affine& i) { return c_.b.load(partial, {i}); });
  }

  /// Serial in each lane, then halving: across warps through shared memory, within the first warp by shuffles.
  void chunk(std::int64_t n, const Term& term) {
    const std::int64_t lanes = std::min(n, reduction_lanes), steps = n / reduction_lanes, rest = n % reduction_lanes;
    only(lanes, [&] { c_.b.store(acc_, {0}, c_.b.convert(term(thread_), dtype_)); });
    const auto step = [&](const Affine& s) { c_.b.combine(acc_, {0}, fn_, c_.b.convert(term(s * reduction_lanes + thread_), dtype_), reduction_); };
    if (steps > 1)
      c_.b.loop("s", steps - 1, kir::LoopKind::serial, [&](Affine s) {
        c_.e.enter_block();
        step(s + 1);
      });
    if (steps > 0 && rest > 0) only(rest, [&] { step(steps); });
    const std::int64_t warp = c_.options.target.warp;
    std::int64_t alive = lanes;
    if (alive > warp) alive = across_warps(alive, warp);
    within_warp(alive);
  }

  std::int64_t across_warps(std::int64_t alive, std::int64_t warp) {
    const auto parts = c_.b.alloc("parts", dtype_, {alive}, kir::Space::shared);
    only(alive, [&] { c_.b.store(parts, {thread_}, c_.b.load(acc_, {0})); });
    barrier();
    for (std::int64_t h = reduction_lanes / 2; h >= warp; h /= 2) {
      if (alive <= h) continue;
      only(std::min(h, alive - h), [&] {
        c_.b.combine(acc_, {0}, fn_, c_.b.load(parts, {thread_ + h}), reduction_);
        if (h > warp) c_.b.store(parts, {thread_}, c_.b.load(acc_, {0}));
      });
      if (h > warp) barrier();
      alive = h;
    }
    return alive;
  }

  void within_warp(std::int64_t alive) {
    const std::int64_t warp = c_.options.target.warp;
    const auto halve = [&] {
      for (std::int64_t h = warp / 2; h >= 1; h /= 2) {
        if (alive <= h) continue;
        const auto other = c_.b.shuffle(c_.b.load(acc_, {0}), kir::ShuffleMode::down, h);
        only(std::min(h, alive - h), [&] { c_.b.combine(acc_, {0}, fn_, other, reduction_); });
        alive = h;
      }
    };
    only(warp, [&] {
      // Lanes without a term still take part in shuffles: they bring a value that nobody combines.
      if (alive < warp) c_.b.when({kir::at_least(thread_, alive)}, [&] { c_.b.store(acc_, {0}, c_.b.constant(dtype_, 0)); });
      halve();
    });
  }

  /// Threads below n alone.
  void only(std::int64_t n, const std::function<void()>& body) {
    const auto entered = [&] {
      c_.e.enter_block();
      body();
    };
    n < threads_ ? c_.b.when({kir::below(thread_, n)}, entered) : entered();
  }
  void barrier() {
    if (c_.options.fault != Fault::missing_barrier) c_.b.barrier();
  }

  KernelContext& c_;
  FnId fn_;
  DType dtype_;
  int reduction_;
  std::int64_t threads_;
  Affine thread_;
  BufferId acc_ = -1;
};

}  // namespace

bool fills_a_block(std::int64_t terms) { return terms >= 64; }

void lower_grid_reduce(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, int reduction, const std::function<ScalarId(const Indices&, const Affine&)>& term) {
  c.kernel->schedule = "grid_reduce";
  const std::int64_t warp = c.options.target.warp, threads = (std::min(terms, reduction_lanes) + warp - 1) / warp * warp;
  if (c.options.fault == Fault::dropped_term) --terms;
  kir::OutputMap map{c.output.buffer, {}};
  c.b.loop("block", element_count(c.shape), kir::LoopKind::gpu_block, [&](Affine block) {
    map.inverse.emplace_back(loop_var(block), flat_index(output_coordinates(c), c.shape));
    const auto at = delinearize(block, c.shape, c.b.ranges());
    BlockReduce reduce(c, fn, c.accumulator_dtype(dtype), reduction, threads);
    c.b.loop("thread", threads, kir::LoopKind::gpu_thread, [&](Affine thread) {
      map.inverse.emplace_back(loop_var(thread), 0);
      reduce.run(thread, terms, [&](const Affine& i) { return term(at, i); });
      c.b.when({{thread, true}}, [&] {
        c.e.enter_block();
        c.finish(at, c.b.convert(reduce.result(), Emitter::compute_dtype(dtype)));
      });
    }, 0);
  }, 0);
  c.kernel->output_maps.push_back(std::move(map));
}

}  // namespace plumb::lowering

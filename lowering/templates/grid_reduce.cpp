#include "lowering/templates/grid_reduce.h"

#include <bit>

#include "ir/kernel/builder.h"

namespace plumb::lowering {

using kir::Affine;
using kir::BufferId;
using kir::KernelBuilder;
using kir::LoopKind;
using kir::Space;

namespace {

class RowReduce {
 public:
  RowReduce(kir::Kernel& k, const GridReduce& p) : b_(k), p_(p), sum_(accumulator(p.dtype)) {}

  void run() {
    const bool tree = p_.finish == GridReduce::Finish::tree;
    x_ = b_.input("x", p_.dtype, {p_.rows, p_.terms});
    out_ = b_.output("out", p_.dtype, {p_.rows});
    b_.loop("row", p_.rows, LoopKind::gpu_block, [&](Affine row) {
      parts_ = b_.alloc("parts", sum_, {tree ? p_.threads : p_.threads / p_.warp}, Space::shared);
      b_.loop("thread", p_.threads, LoopKind::gpu_thread, [&](Affine thread) {
        acc_ = b_.alloc("acc", sum_, {1});
        own_terms(row, thread);
        tree ? finish_tree(row, thread) : finish_shuffles(row, thread);
      }, 0);
      b_.kernel().output_maps.push_back({out_, {{row.terms().at(0).atom.id, Affine::coordinate(0)}}});
    }, 0);
  }

 private:
  /// Terms thread, thread + threads, …: neighbouring threads read neighbouring elements.
  void own_terms(const Affine& row, const Affine& thread) {
    b_.store(acc_, {0}, b_.constant(sum_, p_.identity));
    b_.loop("s", (p_.terms + p_.threads - 1) / p_.threads, LoopKind::serial, [&](Affine s) {
      const Affine e = s * p_.threads + thread;
      const auto one = [&] { b_.combine(acc_, {0}, p_.fn, b_.convert(b_.load(x_, {row, e}), sum_), 0); };
      p_.terms % p_.threads ? b_.when({kir::below(e, p_.terms)}, one) : one();
    });
  }

  void finish_tree(const Affine& row, const Affine& thread) {
    b_.store(parts_, {thread}, b_.load(acc_, {0}));
    barrier();
    for (std::int64_t h = p_.threads / 2; h >= 1; h /= 2) {
      b_.when({kir::below(thread, h)}, [&] { b_.combine(parts_, {thread}, p_.fn, b_.load(parts_, {thread + h}), 0); });
      barrier();
    }
    b_.when({{thread, true}}, [&] { b_.store(out_, {row}, b_.convert(b_.load(parts_, {0}), p_.dtype)); });
  }

  void finish_shuffles(const Affine& row, const Affine& thread) {
    const Affine lane = kir::mod(thread, p_.warp), warp = kir::floor_div(thread, p_.warp);
    const std::int64_t warps = p_.threads / p_.warp;
    across(p_.warp);
    b_.when({{lane, true}}, [&] { b_.store(parts_, {warp}, b_.load(acc_, {0})); });
    barrier();
    b_.when({kir::below(thread, p_.warp)}, [&] {
      b_.store(acc_, {0}, b_.load(parts_, {thread}, {kir::below(thread, warps)}, b_.constant(sum_, p_.identity)));
      across(p_.warp);
    });
    b_.when({{thread, true}}, [&] { b_.store(out_, {row}, b_.convert(b_.load(acc_, {0}), p_.dtype)); });
  }
  /// All lanes of a warp end with the combination of their values.
  void across(std::int64_t lanes) {
    for (std::int64_t d = lanes / 2; d >= 1; d /= 2) b_.combine(acc_, {0}, p_.fn, b_.shuffle(b_.load(acc_, {0}), kir::ShuffleMode::bit_xor, d), 0);
  }
  void barrier() {
    if (p_.barriers) b_.barrier();
  }

  KernelBuilder b_;
  GridReduce p_;
  DType sum_;
  BufferId x_ = -1, out_ = -1, parts_ = -1, acc_ = -1;
};

}  // namespace

kir::Kernel grid_reduce(const GridReduce& p) {
  const auto power = [](std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); };
  require(p.threads > 0 && power(p.threads) && power(p.warp), "threads and lanes of a row reduction are powers of two");
  const bool shuffles = p.finish == GridReduce::Finish::shuffles;
  require(!shuffles || (p.threads % p.warp == 0 && p.threads <= p.warp * p.warp), "one warp combines the sums of all");
  kir::Kernel k;
  k.name = k.schedule = "grid_reduce";
  const auto log2 = [](std::int64_t n) { return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n)) - 1); };
  const auto levels = shuffles ? 2 * log2(p.warp) : log2(p.threads);
  k.reductions.push_back({-1, p.fn, accumulator(p.dtype), false, p.terms, (p.terms + p.threads - 1) / p.threads + levels});
  RowReduce(k, p).run();
  return k;
}

}  // namespace plumb::lowering

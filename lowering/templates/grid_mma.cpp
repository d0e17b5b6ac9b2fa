#include "lowering/templates/grid_mma.h"

#include "ir/kernel/builder.h"

namespace plumb::lowering {

using kir::Affine;
using kir::BufferId;
using kir::KernelBuilder;
using kir::LoopKind;
using kir::Space;

namespace {

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

/// The grid's loops: rows of tiles, then tiles of a row.
void each_block(KernelBuilder& b, std::int64_t rows, std::int64_t columns, const std::function<void(Affine, Affine)>& body) {
  b.loop("by", rows, LoopKind::gpu_block, [&](Affine by) { b.loop("bx", columns, LoopKind::gpu_block, [&](Affine bx) { body(by, bx); }, 0); }, 1);
}

class TileDot {
 public:
  TileDot(kir::Kernel& k, const GridMma& p) : b_(k), p_(p) {}

  void run() {
    a_ = b_.input("a", p_.dtype, {p_.m, p_.k});
    w_ = b_.input("b", p_.dtype, {p_.k, p_.n});
    c_ = b_.output("c", DType::f32, {p_.m, p_.n});
    each_block(b_, pieces(p_.m, rows()), pieces(p_.n, columns()), [&](Affine by, Affine bx) {
      a_tile_ = b_.alloc("a_tile", p_.dtype, {2, rows(), edge}, Space::shared);
      w_tile_ = b_.alloc("b_tile", p_.dtype, {2, edge, columns()}, Space::shared);
      out_ = b_.alloc("out_tile", DType::f32, {p_.warps_m * p_.warps_n, edge, edge}, Space::shared);
      b_.loop("thread", threads(), LoopKind::gpu_thread, [&](Affine thread) { block(by, bx, thread); }, 0);
    });
  }

 private:
  static constexpr std::int64_t edge = 16, chunk = 4;   ///< of a fragment; elements of one async copy
  std::int64_t rows() const { return p_.warps_m * edge; }
  std::int64_t columns() const { return p_.warps_n * edge; }
  std::int64_t threads() const { return p_.warps_m * p_.warps_n * p_.warp; }

  void block(const Affine& by, const Affine& bx, const Affine& thread) {
    const std::int64_t steps = pieces(p_.k, edge);
    const Affine warp = kir::floor_div(thread, p_.warp), wm = kir::floor_div(thread, p_.warp * p_.warps_n), wn = kir::mod(warp, p_.warps_n);
    const auto sums = b_.alloc("sums", DType::f32, {edge, edge}, Space::fragment);
    const auto fa = b_.alloc("fa", p_.dtype, {edge, edge}, Space::fragment), fb = b_.alloc("fb", p_.dtype, {edge, edge}, Space::fragment);
    b_.emit(kir::TileFill{sums, b_.constant(DType::f32, 0)});
    // Each step commits a group, an empty one last, so "all but the latest" is always the step's own tiles.
    issue("first", by, bx, thread, 0, 0);
    b_.emit(kir::AsyncCommit{});
    b_.loop("t", steps, LoopKind::serial, [&](Affine t) {
      b_.when({kir::below(t + 1, steps)}, [&] { issue("next", by, bx, thread, t + 1, kir::mod(t + 1, 2)); });
      b_.emit(kir::AsyncCommit{});
      b_.emit(kir::AsyncWait{1});
      b_.barrier();
      b_.emit(kir::TileLoad{fa, a_tile_, {kir::mod(t, 2), wm * edge, 0}});
      b_.emit(kir::TileLoad{fb, w_tile_, {kir::mod(t, 2), 0, wn * edge}});
      b_.emit(kir::TileMma{sums, fa, fb, kir::Scope::warp, 0});
      b_.barrier();
    });
    b_.emit(kir::TileStore{out_, {warp, 0, 0}, sums});
    b_.barrier(kir::Scope::warp);
    b_.loop("e", edge * edge, LoopKind::tile, [&](Affine e) {
      const Affine i = kir::floor_div(e, edge), j = kir::mod(e, edge), row = by * rows() + wm * edge + i, column = bx * columns() + wn * edge + j;
      b_.when({kir::below(row, p_.m), kir::below(column, p_.n)}, [&] { b_.store(c_, {row, column}, b_.load(out_, {warp, i, j})); });
    });
  }

  /// Step t's tiles of A and B into half `half` of shared memory; copies past an edge bring zeros.
  void issue(const std::string& name, const Affine& by, const Affine& bx, const Affine& thread, const Affine& t, const Affine& half) {
    copy(name + "_a", a_tile_, a_, thread, half, by * rows(), t * edge);
    copy(name + "_b", w_tile_, w_, thread, half, t * edge, bx * columns());
  }
  void copy(std::string_view name, BufferId tile, BufferId from, const Affine& thread, const Affine& half, const Affine& first_row, const Affine& first_column) {
    const auto extents = b_.info(tile).extents;
    const std::int64_t per_row = extents[2] / chunk, chunks = extents[1] * per_row;
    b_.loop(name, pieces(chunks, threads()), LoopKind::serial, [&](Affine s) {
      const Affine e = s * threads() + thread, i = kir::floor_div(e, per_row), j = kir::mod(e, per_row) * chunk;
      b_.when({kir::below(e, chunks)}, [&] { b_.emit(kir::AsyncCopy{tile, {half, i, j}, from, {first_row + i, first_column + j}, {1, chunk}}); });
    });
  }

  KernelBuilder b_;
  GridMma p_;
  BufferId a_ = -1, w_ = -1, c_ = -1, a_tile_ = -1, w_tile_ = -1, out_ = -1;
};

}  // namespace

kir::Kernel grid_mma(const GridMma& p) {
  kir::Kernel k;
  k.name = k.schedule = "grid_mma";
  k.reductions.push_back({-1, fn_id<scalar::Add>, DType::f32, p.truncates, p.k, pieces(p.k, 16) * 16});
  TileDot(k, p).run();
  return k;
}

}  // namespace plumb::lowering

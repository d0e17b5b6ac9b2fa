#include "lowering/templates/grid_dot.h"

#include "ir/kernel/builder.h"

namespace plumb::lowering {

using kir::Affine;
using kir::BufferId;
using kir::KernelBuilder;
using kir::LoopKind;
using kir::Space;

namespace {

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

kir::VarId var_of(const Affine& a) { return a.terms().at(0).atom.id; }

/// The grid's loops: rows of tiles, then tiles of a row.
void each_block(KernelBuilder& b, std::int64_t rows, std::int64_t columns, const std::function<void(Affine, Affine)>& body) {
  b.loop("by", rows, LoopKind::gpu_block, [&](Affine by) { b.loop("bx", columns, LoopKind::gpu_block, [&](Affine bx) { body(by, bx); }, 0); }, 1);
}

class SharedDot {
 public:
  SharedDot(kir::Kernel& k, const GridDot& p) : b_(k), p_(p) {}

  void run() {
    a_ = b_.input("a", p_.dtype, {p_.m, p_.k});
    w_ = b_.input("b", p_.dtype, {p_.k, p_.n});
    c_ = b_.output("c", p_.dtype, {p_.m, p_.n});
    each_block(b_, pieces(p_.m, p_.tile_m), pieces(p_.n, p_.tile_n), [&](Affine by, Affine bx) {
      a_tile_ = b_.alloc("a_tile", p_.dtype, {p_.tile_m, p_.tile_k}, Space::shared);
      w_tile_ = b_.alloc("b_tile", p_.dtype, {p_.tile_k, p_.tile_n}, Space::shared);
      b_.loop("ty", p_.tile_m, LoopKind::gpu_thread, [&](Affine ty) {
        b_.loop("tx", p_.tile_n, LoopKind::gpu_thread, [&](Affine tx) {
          thread(by, bx, ty, tx);
          const auto row = Affine::coordinate(0), column = Affine::coordinate(1);
          b_.kernel().output_maps.push_back({c_, {{var_of(by), kir::floor_div(row, p_.tile_m)}, {var_of(bx), kir::floor_div(column, p_.tile_n)},
                                                  {var_of(ty), kir::mod(row, p_.tile_m)}, {var_of(tx), kir::mod(column, p_.tile_n)}}});
        }, 0);
      }, 1);
    });
  }

 private:
  void thread(const Affine& by, const Affine& bx, const Affine& ty, const Affine& tx) {
    const DType sum = accumulator(p_.dtype);
    const Affine row = by * p_.tile_m + ty, column = bx * p_.tile_n + tx, thread = ty * p_.tile_n + tx;
    const auto acc = b_.alloc("acc", sum, {1});
    b_.store(acc, {0}, b_.constant(sum, 0));
    b_.loop("t", pieces(p_.k, p_.tile_k), LoopKind::serial, [&](Affine t) {
      fill("sa", a_tile_, a_, thread, by * p_.tile_m, t * p_.tile_k);
      fill("sb", w_tile_, w_, thread, t * p_.tile_k, bx * p_.tile_n);
      barrier();
      b_.loop("kk", p_.tile_k, LoopKind::serial, [&](Affine kk) {
        const auto step = [&] {
          const auto a = b_.convert(b_.load(a_tile_, {ty, kk}), sum), w = b_.convert(b_.load(w_tile_, {kk, tx}), sum);
          b_.combine_fma(acc, {0}, a, w, 0);
        };
        p_.k % p_.tile_k ? b_.when({kir::below(t * p_.tile_k + kk, p_.k)}, step) : step();
      });
      barrier();
    });
    b_.when({kir::below(row, p_.m), kir::below(column, p_.n)}, [&] { b_.store(c_, {row, column}, b_.convert(b_.load(acc, {0}), p_.dtype)); });
  }

  /// All threads together bring one tile of a matrix in; what lies outside it is zero.
  void fill(std::string_view name, BufferId tile, BufferId from, const Affine& thread, const Affine& first_row, const Affine& first_column) {
    const auto extents = b_.info(tile).extents, size = b_.info(from).extents;
    const std::int64_t elements = extents[0] * extents[1], threads = p_.tile_m * p_.tile_n;
    b_.loop(name, pieces(elements, threads), LoopKind::serial, [&](Affine s) {
      const Affine e = s * threads + thread, i = kir::floor_div(e, extents[1]), j = kir::mod(e, extents[1]);
      const auto one = [&] {
        const Affine row = first_row + i, column = first_column + j;
        const auto zero = b_.constant(p_.dtype, 0);
        b_.store(tile, {i, j}, b_.load(from, {row, column}, {kir::below(row, size[0]), kir::below(column, size[1])}, zero));
      };
      elements % threads ? b_.when({kir::below(e, elements)}, one) : one();
    });
  }
  void barrier() {
    if (p_.barriers) b_.barrier();
  }

  KernelBuilder b_;
  GridDot p_;
  BufferId a_ = -1, w_ = -1, c_ = -1, a_tile_ = -1, w_tile_ = -1;
};

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

kir::Kernel begin(const std::string& name, DType sum, std::int64_t terms, bool truncates) {
  kir::Kernel k;
  k.name = k.schedule = name;
  k.reductions.push_back({-1, fn_id<scalar::Add>, sum, truncates, terms, terms});
  return k;
}

}  // namespace

kir::Kernel grid_dot(const GridDot& p) {
  auto k = begin("grid_dot", accumulator(p.dtype), p.k, false);
  SharedDot(k, p).run();
  return k;
}

kir::Kernel grid_mma(const GridMma& p) {
  auto k = begin("grid_mma", DType::f32, p.k, p.truncates);
  TileDot(k, p).run();
  return k;
}

}  // namespace plumb::lowering

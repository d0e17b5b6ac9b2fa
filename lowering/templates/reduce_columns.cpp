// Reductions over leading axes, in the canonical order, on a CPU: a tile of columns at a time, so that rows are read in long
// pieces, while the tile's accumulators (256 lanes of it) stay in the second-level cache.
#include "ir/tensor/op_table.h"
#include "lowering/templates/template.h"

namespace plumb::lowering {
namespace {

constexpr std::int64_t widest_tile = 256;

/// All of a short row, else a whole vector's multiple that divides the row, if there is one.
std::int64_t tile_width(std::int64_t columns, std::int64_t vector) {
  if (columns <= widest_tile) return columns;
  for (std::int64_t t = widest_tile / vector * vector; t >= widest_tile / 2; t -= vector)
    if (columns % t == 0) return t;
  return widest_tile;
}

class Columns {
 public:
  using Term = std::function<ScalarId(const Indices& out, const Affine& place)>;
  Columns(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, int reduction, const Term& term)
      : c_(c), fn_(fn), acc_type_(c.accumulator_dtype(dtype)), dtype_(dtype), terms_(terms), reduction_(reduction), term_(term),
        columns_(c.shape.back()), tile_(tile_width(columns_, c.width())) {}

  void emit() {
    const std::int64_t tiles = (columns_ + tile_ - 1) / tile_, items = tiles * element_count(c_.shape) / columns_, chunks = (terms_ + reduction_chunk - 1) / reduction_chunk;
    // Where results are few, the cores share the chunks of each.
    chunks_parallel_ = items == 1 || (items < c_.options.target.threads && items < chunks);
    nest({}, tiles);
    c_.kernel->output_maps.push_back({c_.output.buffer, std::move(inverse_)});
  }

 private:
  kir::LoopKind outer() const { return chunks_parallel_ ? kir::LoopKind::serial : kir::LoopKind::parallel; }

  void nest(Indices at, std::int64_t tiles) {
    const std::size_t d = at.size();
    const bool last = d + 1 == c_.shape.size();
    const std::int64_t n = last ? tiles : c_.shape[d];
    auto inside = [&](const Affine& o) {
      at.push_back(last ? o * tile_ : o);
      if (!last) return nest(at, tiles);
      first_ = at;
      const auto sum = levels(terms_, [&](const Indices& out, const Affine& r) { return term_(out, r); });
      each_column([&](const Affine& column, const Indices& out) { c_.finish(out, c_.b.convert(c_.b.load(sum, {0, column}), Emitter::compute_dtype(dtype_))); }, true);
    };
    if (n == 1) return inside(0);
    c_.b.loop("o" + std::to_string(d), n, outer(), [&](Affine o) {
      const auto coordinate = Affine::coordinate(static_cast<int>(d));
      inverse_.emplace_back(loop_var(o), last ? kir::floor_div(coordinate, tile_) : coordinate);
      inside(o);
    });
  }

  void each_column(const std::function<void(const Affine& column, const Indices& out)>& body, bool writes = false) {
    c_.b.loop("c", tile_, kir::LoopKind::vector, [&](Affine column) {
      if (writes) inverse_.emplace_back(loop_var(column), kir::mod(Affine::coordinate(static_cast<int>(c_.shape.size()) - 1), tile_));
      auto out = first_;
      out.back() = out.back() + column;
      const auto one = [&] {
        c_.e.enter_block();
        body(column, out);
      };
      columns_ % tile_ ? c_.b.when({kir::below(out.back(), columns_)}, one) : one();
    }, c_.width());
  }
  void each_lane(const char* name, std::int64_t n, const std::function<void(const Affine&)>& body) { c_.b.loop(name, n, kir::LoopKind::serial, [&](Affine l) { body(l); }); }

  /// Up to 4,096 terms of each column: row 0 of the result is their sum.
  BufferId chunk(std::int64_t n, const Term& term) {
    const std::int64_t lanes = std::min(n, reduction_lanes), steps = n / reduction_lanes, rest = n % reduction_lanes;
    const auto acc = c_.b.alloc("acc", acc_type_, {lanes, tile_});
    each_lane("l", lanes, [&](const Affine& l) {
      each_column([&](const Affine& column, const Indices& out) { c_.b.store(acc, {l, column}, c_.b.convert(term(out, l), acc_type_)); });
    });
    auto step = [&](const Affine& s, std::int64_t width) {
      each_lane("l", width, [&](const Affine& l) {
        each_column([&](const Affine& column, const Indices& out) { c_.b.combine(acc, {l, column}, fn_, c_.b.convert(term(out, s * reduction_lanes + l), acc_type_), reduction_); });
      });
    };
    if (steps > 1) c_.b.loop("s", steps - 1, kir::LoopKind::serial, [&](Affine s) { step(s + 1, reduction_lanes); });
    if (steps > 0 && rest > 0) step(steps, rest);
    for (std::int64_t h = reduction_lanes / 2, alive = lanes; h >= 1; h /= 2) {
      if (alive <= h) continue;
      each_lane("l", std::min(h, alive - h), [&](const Affine& l) {
        each_column([&](const Affine& column, const Indices&) { c_.b.combine(acc, {l, column}, fn_, c_.b.load(acc, {l + h, column}), reduction_); });
      });
      alive = h;
    }
    return acc;
  }

  BufferId levels(std::int64_t n, const Term& term) {
    if (n <= reduction_chunk) return chunk(n, term);
    const std::int64_t full = n / reduction_chunk, rest = n % reduction_chunk;
    const auto partial = c_.b.alloc("partial", acc_type_, {full + (rest > 0), tile_});
    auto one = [&](const Affine& k, std::int64_t terms) {
      const auto acc = chunk(terms, [&](const Indices& out, const Affine& i) { return term(out, k * reduction_chunk + i); });
      each_column([&](const Affine& column, const Indices&) { c_.b.store(partial, {k, column}, c_.b.load(acc, {0, column})); });
    };
    c_.b.loop("k", full, chunks_parallel_ ? kir::LoopKind::parallel : kir::LoopKind::serial, [&](Affine k) { one(k, reduction_chunk); });
    if (rest > 0) one(full, rest);
    // A column's partial sums stand in its own column of `partial`, whatever the element of the result.
    return levels(full + (rest > 0), [&, partial](const Indices& out, const Affine& i) { return c_.b.load(partial, {i, out.back() - first_.back()}); });
  }

  KernelContext& c_;
  FnId fn_;
  DType acc_type_, dtype_;
  std::int64_t terms_;
  int reduction_;
  const Term& term_;
  std::int64_t columns_, tile_;
  bool chunks_parallel_ = false;
  Indices first_;   ///< the result's element at the tile's first column
  std::vector<std::pair<kir::VarId, Affine>> inverse_;
};

}  // namespace

bool worth_column_tiles(const KernelContext& c, std::int64_t terms) { return !c.options.target.grid && terms >= 64 && c.shape.back() >= 2 * c.width(); }

void lower_column_reduce(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, int reduction, const std::function<ScalarId(const Indices&, const Affine&)>& term) {
  c.kernel->schedule = "reduce_columns";
  if (c.options.fault == Fault::dropped_term && terms > 1) --terms;
  Columns(c, fn, dtype, terms, reduction, term).emit();
}

}  // namespace plumb::lowering

// Running reductions, in the canonical order of ir/tensor/ops/scan.h: a stream of runs of 16 elements, with a running prefix
// and a running total a level. A run needs only the prefix before it, so neighbouring runs' chains overlap in a core's
// pipeline; a chunk of 4,096 needs only the chunks' totals before it, so chunks of few long lines spread over threads.
#include <cmath>
#include <utility>

#include "ir/tensor/op_table.h"
#include "lowering/templates/bands.h"

namespace plumb::lowering {
namespace {

constexpr std::int64_t radix = 16, chunk = radix * radix * radix;

/// Levels above the elements that a line has: 16^levels is n or more.
int levels_of(std::int64_t n) {
  int levels = 0;
  for (std::int64_t size = 1; size < n; size *= radix) ++levels;
  return levels;
}

class Scan {
 public:
  explicit Scan(KernelContext& context) : c(context), n(c.anchor_node()), fn(ir::row(n.op).fn), axis(static_cast<std::size_t>(n.attrs.integer("axis"))), size(c.shape[axis]),
        exclusive(n.attrs.flag("exclusive")), reverse(n.attrs.flag("reverse")), t(c.spec.type(n.operands[0]).dtype), acc(c.accumulator_dtype(t)) {
    const auto height = size <= radix ? std::max<std::int64_t>(size - 1, 0) : std::min(size + 1, radix * (2 * levels_of(size) - 1));
    reduction = c.declare_reduction(fn, accumulator(t), size, height);
  }

  void bands() {
    for_each_band(c, axis, [&](const Band& band) { whole_line(band); });
  }

  /// One thread a line.
  void lines() {
    for_each_line_on_grid(c, axis, [&](const Line& element, const Inverse& inverse) {
      Band band;
      band.element = [&](const Affine& place, const Affine&) { return element(place); };
      band.place_of_output = output_coordinates(c)[axis];
      band.inverse = inverse;
      whole_line(band);
    });
  }

  /// Few long lines: the totals of chunks, their prefixes, then the chunks.
  void chunks() {
    const std::int64_t full = (size - 1) / chunk, count = element_count(c.shape) / size;
    const auto totals = c.b.alloc("totals", acc, {count, full}), prefixes = c.b.alloc("prefixes", acc, {count, full + 1});
    c.b.loop("line", count, kir::LoopKind::parallel, [&](Affine l) {
      c.b.loop("chunk", full, kir::LoopKind::parallel, [&](Affine k) { c.b.store(totals, {l, k}, total(line(l), k * chunk)); });
    });
    c.b.loop("line", count, kir::LoopKind::serial, [&](Affine l) {
      const State s(c, acc, levels_of(size) - 2, 1);
      s.fill(0, nothing());
      c.b.store(prefixes, {l, 0}, nothing());
      c.b.loop("chunk", full, kir::LoopKind::serial, [&](Affine k) {
        c.b.store(s.totals, {1, 0}, c.b.load(totals, {l, k}));
        finish_entry(line(l), s, k, true);
        c.b.store(prefixes, {l, k + 1}, c.b.load(s.prefixes, {1, 0}));
      });
    });
    const auto one = [&](Band band, const Affine& l, const Affine& k, std::int64_t length) {
      const State s(c, acc, 3, 1);
      s.fill(0, c.b.load(prefixes, {l, k}));
      stream(band, s, k * chunk, length, kir::floor_div(kir::mod(ordered(band.place_of_output), chunk), radix));
    };
    c.b.loop("line", count, kir::LoopKind::parallel, [&](Affine l) {
      c.b.loop("chunk", full, kir::LoopKind::parallel, [&](Affine k) {
        auto band = line(l);
        band.inverse.emplace_back(loop_var(k), kir::floor_div(ordered(band.place_of_output), chunk));
        one(band, l, k, chunk);
      });
    });
    c.b.loop("line", count, kir::LoopKind::parallel, [&](Affine l) { one(line(l), l, full, size - full * chunk); });
  }

  bool long_lines() const { return !c.options.target.grid && c.options.target.threads > 1 && size > 4 * chunk && element_count(c.shape) / size < 2 * c.options.target.threads; }

 private:
  /// For each level k from 1 on: the prefix of the entry in progress, and the total of it so far.
  struct State {
    State(KernelContext& context, DType acc, int count, std::int64_t width) : c(context), levels(count), prefixes(c.b.alloc("prefix", acc, {std::max(count, 2), width})), totals(c.b.alloc("total", acc, {std::max(count, 2) + 1, width})) {}
    void fill(const Affine& j, ScalarId v) const {
      for (int k = 1; k < std::max(levels, 2); ++k) c.b.store(prefixes, {k, j}, v);
    }
    KernelContext& c;
    int levels;
    BufferId prefixes, totals;
  };

  /// What a prefix of nothing is: it leaves what it is combined with as it is, -0 and NaN included.
  ScalarId nothing() const {
    if (is_float(acc) && fn == fn_id<scalar::Add>) return c.b.constant(acc, -0.0);
    if (is_float(acc) && fn != fn_id<scalar::Mul>) return c.b.constant(acc, fn == fn_id<scalar::Maximum> ? -HUGE_VAL : HUGE_VAL);
    return reduction_identity(c, fn, t, acc);
  }
  /// The element's place on the axis from its place in the order of the scan, and back.
  Affine ordered(const Affine& k) const { return reverse ? Affine(size - 1) - k : k; }
  ScalarId element(const Band& band, const Affine& k, const Affine& j) const { return c.b.convert(c.e.at(n.operands[0], band.element(ordered(k), j)), acc); }
  void each_in_run(std::int64_t length, const std::function<void(const Affine&)>& body) const {
    const bool plain = c.spec.value(n.operands[0]).node < 0;
    c.b.loop("e", length, plain ? kir::LoopKind::unrolled : kir::LoopKind::serial, [&](Affine e) {
      c.e.enter_block();
      body(e);
    });
  }

  void whole_line(const Band& band) const {
    if (size <= radix) return one_chain(band);
    const State s(c, acc, levels_of(size), band.width);
    each_column(c, band, [&](const Affine& j, const Inverse&) { s.fill(j, nothing()); });
    stream(band, s, 0, size, kir::floor_div(ordered(band.place_of_output), radix));
  }
  /// The line of this number, as a band of one column.
  Band line(const Affine& number) const {
    Extents others = c.shape;
    others[axis] = 1;
    const auto start = delinearize(number, others, c.b.ranges());
    Band band;
    band.element = [start, this](const Affine& place, const Affine&) {
      auto at = start;
      at[axis] = place;
      return at;
    };
    auto of_output = output_coordinates(c);
    band.place_of_output = std::exchange(of_output[axis], 0);
    band.inverse = {{loop_var(number), flat_index(of_output, others)}};
    return band;
  }

  /// The elements [first, first + length) in the order of the scan. The prefix of the first one stands in every level of s.
  void stream(const Band& band, const State& s, const Affine& first, std::int64_t length, const Affine& run_of_output) const {
    const std::int64_t runs = length / radix, rest = length % radix;
    if (runs > 0)
      c.b.loop("run", runs, kir::LoopKind::serial, [&](Affine g) {
        Band inside = band;
        inside.inverse.emplace_back(loop_var(g), run_of_output);
        run(inside, s, first + g * radix, radix);
        finish_entry(band, s, g, true);
      });
    if (rest > 0) run(band, s, first + runs * radix, rest);
  }

  /// A line of one group: nothing precedes its first element.
  void one_chain(const Band& band) const {
    each_column(c, band, [&](const Affine& j, const Inverse& around) {
      const auto sum = c.b.alloc("sum", acc, {1});
      const auto one = [&](const Affine& k, bool first, const Inverse& inverse) {
        const auto x = element(band, k, j);
        auto out = first ? reduction_identity(c, fn, t, acc) : c.b.load(sum, {0});
        first ? c.b.store(sum, {0}, x) : c.b.combine(sum, {0}, fn, x, reduction);
        if (!exclusive) out = c.b.load(sum, {0});
        c.finish(band.element(ordered(k), j), c.b.convert(out, Emitter::compute_dtype(t)));
        c.kernel->output_maps.push_back({c.output.buffer, inverse});
      };
      one(0, true, around);
      if (size == 1) return;
      each_in_run(size - 1, [&](const Affine& e) {
        auto inverse = around;
        inverse.emplace_back(loop_var(e), ordered(band.place_of_output) - 1);
        one(e + 1, false, inverse);
      });
    });
  }

  void run(const Band& band, const State& s, const Affine& first, std::int64_t length) const {
    each_column(c, band, [&](const Affine& j, const Inverse& around) {
      const auto sum = c.b.alloc("sum", acc, {1}), total = c.b.alloc("run_total", acc, {1});
      c.b.store(sum, {0}, c.b.load(s.prefixes, {1, j}));
      c.b.store(total, {0}, nothing());
      each_in_run(length, [&](const Affine& e) {
        const auto x = element(band, first + e, j), before = c.b.load(sum, {0});
        c.b.combine(sum, {0}, fn, x, reduction);
        c.b.combine(total, {0}, fn, x, reduction);
        auto out = c.b.load(sum, {0});
        if (exclusive) out = c.b.select(c.b.test({{first + e, true}}), reduction_identity(c, fn, t, acc), before);
        c.finish(band.element(ordered(first + e), j), c.b.convert(out, Emitter::compute_dtype(t)));
        auto inverse = around;
        inverse.emplace_back(loop_var(e), kir::mod(ordered(band.place_of_output), radix));
        c.kernel->output_maps.push_back({c.output.buffer, std::move(inverse)});
      });
      c.b.store(s.totals, {1, j}, c.b.load(total, {0}));
    });
  }

  /// The total of a whole chunk.
  ScalarId total(const Band& band, const Affine& first) const {
    const State s(c, acc, 4, 1);
    c.b.loop("run", chunk / radix, kir::LoopKind::serial, [&](Affine g) {
      c.b.store(s.totals, {1, 0}, nothing());
      each_in_run(radix, [&](const Affine& e) { c.b.combine(s.totals, {1, 0}, fn, element(band, first + g * radix + e, 0), reduction); });
      finish_entry(band, s, g, false);
    });
    return c.b.load(s.totals, {3, 0});
  }

  /// Entry g of level 1 is complete, and perhaps the entries of higher levels that it ends: they join the totals they are part
  /// of, and the prefixes of what comes next.
  void finish_entry(const Band& band, const State& s, const Affine& g, bool prefixes) const {
    std::int64_t entries = 1;
    for (int k = 1; k < s.levels; ++k, entries *= radix) {
      const Affine place = kir::mod(kir::floor_div(g, entries), radix);
      const bool top = k + 1 == s.levels;
      const auto join = [&] {
        if (!top) {
          c.b.when({{place, true}}, [&] { each_column(c, band, [&](const Affine& j, const Inverse&) { c.b.store(s.totals, {k + 1, j}, c.b.load(s.totals, {k, j})); }); });
          c.b.when({kir::at_least(place, 1)}, [&] { each_column(c, band, [&](const Affine& j, const Inverse&) { c.b.combine(s.totals, {k + 1, j}, fn, c.b.load(s.totals, {k, j}), reduction); }); });
        }
        if (!prefixes) return;
        const auto next = [&] {
          each_column(c, band, [&](const Affine& j, const Inverse&) {
            c.b.combine(s.prefixes, {k, j}, fn, c.b.load(s.totals, {k, j}), reduction);
            for (int below = 1; below < k; ++below) c.b.store(s.prefixes, {below, j}, c.b.load(s.prefixes, {k, j}));
          });
        };
        top ? next() : c.b.when({kir::below(place, radix - 1)}, next);
      };
      entries == 1 ? join() : c.b.when({{kir::mod(g + 1, entries), true}}, join);
    }
  }

  KernelContext& c;
  const ir::Node& n;
  FnId fn;
  std::size_t axis;
  std::int64_t size;
  bool exclusive, reverse;
  DType t, acc;
  int reduction = -1;
};

}  // namespace

void lower_scan(KernelContext& c) {
  c.kernel->schedule = "scan";
  c.place_buffers(std::vector<bool>(c.shape.size() - 1, false));
  if (element_count(c.shape) == 0) return;
  Scan s(c);
  if (c.options.target.grid) s.lines();
  else s.long_lines() ? s.chunks() : s.bands();
}

}  // namespace plumb::lowering

// Stable sorting by Batcher's odd-even merge network (Knuth, The Art of Computer Programming 3, algorithm 5.2.2M): the same
// comparisons whatever the data, so lines sort side by side in vector lanes, and long ones in pieces on all cores.
//
// An element's place rides along and decides ties, which makes the order total: a network is then as good as a stable sort.
// A NaN goes as an infinity at a place beyond all others (before, when descending), so that comparing stays short.
// Integers and bools that are equal look alike, so their values sort without places.
#include <cmath>
#include <limits>

#include "ir/tensor/op_table.h"
#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

using Line = std::function<Indices(const Affine&)>;   ///< the element of a line at a place
using Inverse = std::vector<std::pair<kir::VarId, Affine>>;

/// Beyond this a line is sorted alone: side by side, lines would leave the caches.
constexpr std::int64_t longest_beside = 1 << 14, piece = 4096;

class Network {
 public:
  /// `alone`: the code stands in no other loop, so that its loops may be vectors and parallel.
  Network(KernelContext& c, const Line& element, Inverse lines, bool alone)
      : c_(c), element_(element), lines_(std::move(lines)), axis_(static_cast<std::size_t>(c.anchor_node().attrs.integer("axis"))), n_(c.shape[axis_]), alone_(alone),
        descending_(c.anchor_node().attrs.flag("descending")), argsort_(ir::name(c.anchor_node()) == "argsort"), type_(c.spec.type(c.anchor_node().operands[0]).dtype),
        with_places_(argsort_ || is_float(type_)) {}

  void emit() {
    if (n_ == 0) return;
    keys_ = c_.b.alloc("key", Emitter::compute_dtype(type_), {n_});
    if (with_places_) places_ = c_.b.alloc("place", place_type(), {n_});
    each("k", n_, [&](const Affine& k) { put(k, c_.e.at(c_.anchor_node().operands[0], element_(k))); });
    for (std::int64_t p = 1; p < n_; p *= 2)
      for (std::int64_t k = p; k >= 1; k /= 2) stage(p, k);
    each("k", n_, [&](const Affine& k) {
      c_.finish(element_(k), get(k));
      auto inverse = lines_;
      if (n_ > 1) inverse.emplace_back(loop_var(k), Affine::coordinate(static_cast<int>(axis_)));
      c_.kernel->output_maps.push_back({c_.output.buffer, std::move(inverse)});
    });
  }

 private:
  void each(const char* name, std::int64_t n, const std::function<void(const Affine&)>& body) {
    if (n == 1) {
      c_.e.enter_block();
      return body(0);
    }
    const bool vector = alone_ && n > 2;
    c_.b.loop(name, n, vector ? kir::LoopKind::vector : kir::LoopKind::serial, [&](Affine i) {
      c_.e.enter_block();
      body(i);
    }, vector ? static_cast<int>(std::min<std::int64_t>(n, c_.width())) : 1);
  }
  void outer(const char* name, std::int64_t n, const std::function<void(const Affine&)>& body) {
    if (n == 1) return body(0);
    c_.b.loop(name, n, alone_ ? kir::LoopKind::parallel : kir::LoopKind::serial, [&](Affine i) { body(i); });
  }

  /// Merges neighbouring sorted runs of p, at distance k: in each block of 2p the pairs (i, i+k) from k mod p on, every 2k.
  void stage(std::int64_t p, std::int64_t k) {
    const std::int64_t start = k == p ? 0 : k, groups = k == p ? 1 : p / k - 1, pieces = k > piece ? k / piece : 1;
    const bool partial = n_ % (2 * p) != 0;
    outer("block", (n_ + 2 * p - 1) / (2 * p), [&](const Affine& block) {
      outer("group", groups, [&](const Affine& group) {
        outer("piece", pieces, [&](const Affine& part) {
          each("i", k / pieces, [&](const Affine& i) {
            const Affine low = block * (2 * p) + group * (2 * k) + start + part * piece + i;
            if (partial) c_.b.when({kir::below(low + k, n_)}, [&] { compare_exchange(low, low + k); });
            else compare_exchange(low, low + k);
          });
        });
      });
    });
  }

  DType place_type() const { return n_ < (std::int64_t{1} << 30) ? DType::i32 : DType::i64; }
  /// A place, or how far NaNs are moved from theirs.
  ScalarId number(std::int64_t v) { return c_.b.constant(place_type(), static_cast<double>(v)); }
  ScalarId nan_offset() { return number(descending_ ? -n_ : n_); }
  ScalarId was_nan(ScalarId place) { return descending_ ? c_.b.apply<scalar::Lt>(place, number(0)) : c_.b.apply<scalar::Ge>(place, number(n_)); }

  void put(const Affine& k, ScalarId x) {
    if (with_places_) {
      auto place = c_.b.convert(c_.b.index_value(k), place_type());
      if (is_float(type_)) {
        const auto nan = c_.b.apply<scalar::IsNan>(x);
        x = c_.b.select(nan, c_.b.constant(c_.b.dtype(x), HUGE_VAL), x);
        place = c_.b.select(nan, c_.b.apply<scalar::Add>(place, nan_offset()), place);
      }
      c_.b.store(places_, {k}, place);
    }
    c_.b.store(keys_, {k}, x);
  }
  ScalarId get(const Affine& k) {
    if (!with_places_) return c_.b.load(keys_, {k});
    auto place = c_.b.load(places_, {k});
    if (argsort_) {
      if (is_float(type_)) place = c_.b.select(was_nan(place), c_.b.apply<scalar::Sub>(place, nan_offset()), place);
      return c_.b.convert(place, DType::i64);
    }
    const auto x = c_.b.load(keys_, {k});
    return c_.b.select(was_nan(place), c_.b.constant(c_.b.dtype(x), std::numeric_limits<double>::quiet_NaN()), x);
  }

  void compare_exchange(const Affine& low, const Affine& high) {
    const auto a = c_.b.load(keys_, {low}), b = c_.b.load(keys_, {high});
    auto swap = descending_ ? c_.b.apply<scalar::Gt>(b, a) : c_.b.apply<scalar::Lt>(b, a);
    ScalarId at_a = -1, at_b = -1;
    if (with_places_) {
      at_a = c_.b.load(places_, {low}), at_b = c_.b.load(places_, {high});
      swap = c_.b.apply<scalar::Or>(swap, c_.b.apply<scalar::And>(c_.b.apply<scalar::Eq>(a, b), c_.b.apply<scalar::Lt>(at_b, at_a)));
    }
    c_.b.store(keys_, {low}, c_.b.select(swap, b, a));
    c_.b.store(keys_, {high}, c_.b.select(swap, a, b));
    if (!with_places_) return;
    c_.b.store(places_, {low}, c_.b.select(swap, at_b, at_a));
    c_.b.store(places_, {high}, c_.b.select(swap, at_a, at_b));
  }

  KernelContext& c_;
  const Line& element_;
  Inverse lines_;
  std::size_t axis_;
  std::int64_t n_;
  bool alone_, descending_, argsort_;
  DType type_;
  bool with_places_;
  BufferId keys_ = -1, places_ = -1;
};

/// Lines in vector lanes, `width` of them at a time.
void lines_beside(KernelContext& c, std::size_t axis, std::int64_t count, const Extents& lines) {
  auto start = output_coordinates(c);
  start[axis] = 0;
  const Affine line_of_output = flat_index(start, lines);
  const std::int64_t width = std::min<std::int64_t>(count, c.width());
  c.b.loop("p", (count + width - 1) / width, kir::LoopKind::parallel, [&](Affine p) {
    c.b.loop("l", width, kir::LoopKind::vector, [&](Affine l) {
      const Inverse inverse{{loop_var(p), kir::floor_div(line_of_output, width)}, {loop_var(l), kir::mod(line_of_output, width)}};
      const Affine line = p * width + l;
      const auto one = [&] {
        const auto at = delinearize(line, lines, c.b.ranges());
        const Line element = [&](const Affine& k) { auto full = at; full[axis] = k; return full; };
        Network(c, element, inverse, false).emit();
      };
      count % width ? c.b.when({kir::below(line, count)}, one) : one();
    }, static_cast<int>(width));
  });
}

/// One line after the other, each by all cores.
void lines_alone(KernelContext& c, std::size_t axis, const Extents& lines) {
  Inverse inverse;
  std::function<void(std::size_t, Indices)> nest = [&](std::size_t d, Indices at) {
    if (d == lines.size()) {
      const Line element = [&](const Affine& k) { auto full = at; full[axis] = k; return full; };
      return Network(c, element, inverse, true).emit();
    }
    if (lines[d] == 1) {
      at.push_back(0);
      return nest(d + 1, std::move(at));
    }
    c.b.loop("o" + std::to_string(d), lines[d], kir::LoopKind::serial, [&](Affine o) {
      inverse.emplace_back(loop_var(o), Affine::coordinate(static_cast<int>(d)));
      auto deeper = at;
      deeper.push_back(o);
      nest(d + 1, std::move(deeper));
    });
  };
  nest(0, {});
}

}  // namespace

void lower_sort(KernelContext& c) {
  c.kernel->schedule = "sort_network";
  const auto axis = static_cast<std::size_t>(c.anchor_node().attrs.integer("axis"));
  c.place_buffers(std::vector<bool>(c.shape.empty() ? 0 : c.shape.size() - 1, false));
  if (c.options.target.grid) {
    return for_each_line_on_grid(c, axis, [&](const Line& element, const Inverse& lines) { Network(c, element, lines, false).emit(); });
  }
  Extents lines = c.shape;
  lines[axis] = 1;
  const std::int64_t count = element_count(lines);
  const bool fills_lanes = 2 * count >= c.width() || c.shape[axis] < 64;
  if (count > 1 && fills_lanes && c.shape[axis] <= longest_beside) lines_beside(c, axis, count, lines);
  else lines_alone(c, axis, lines);
}

}  // namespace plumb::lowering

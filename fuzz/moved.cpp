#include <algorithm>

#include "fuzz/internal/draws.h"

namespace plumb::fuzz {
namespace {

using ir::Type;
using ir::ValueId;

/// Operations that move elements: views, slices and updates at indices, bits as another dtype.
class Moving {
 public:
  Moving(const Draws& d, ValueId x) : d_(d), x_(x), t_(d.b.type(x)) {}

  std::vector<ValueId> any() {
    if (d_.choose(3)) view();
    else indexed();
    return out_;
  }

 private:
  void view() {
    ir::AttrMap a;
    const auto extents = t_.extents();
    switch (d_.choose(7)) {
      case 0: {
        ir::Ints perm;
        for (std::size_t d = 0; d < t_.rank(); ++d) perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(d_.choose(d + 1)), static_cast<std::int64_t>(d));
        return keep(d_.b.transpose(x_, perm));
      }
      case 1: {
        ir::Ints start, limit, stride;
        for (auto e : extents) {
          start.push_back(static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(e) + 1)));
          limit.push_back(start.back() + static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(e - start.back()) + 1)));
          stride.push_back(1 + static_cast<std::int64_t>(d_.choose(3)));
        }
        a.set("start", start), a.set("limit", limit), a.set("stride", stride);
        return keep(d_.b.op("slice", {x_}, std::move(a)));
      }
      case 2: {
        ir::Ints low, high, interior;
        for (auto e : extents) {
          low.push_back(static_cast<std::int64_t>(d_.choose(4)) - 1);
          high.push_back(static_cast<std::int64_t>(d_.choose(4)) - 1);
          interior.push_back(d_.choose(4) == 0 ? 1 : 0);
          if (low.back() + high.back() + e + (e > 0 ? (e - 1) * interior.back() : 0) < 0) low.back() = high.back() = 0;
        }
        a.set("low", low), a.set("high", high), a.set("interior", interior);
        return keep(d_.b.op("pad", {x_, d_.like({t_.dtype, {}})}, std::move(a)));
      }
      case 3:
        a.set("axes", draw_axes(d_.choose, t_.rank()));
        return keep(d_.b.op("reverse", {x_}, std::move(a)));
      case 4: {
        ir::Shape shape = t_.shape;
        if (shape.size() < 5) shape = ir::Shape{ir::Dim(1 + static_cast<std::int64_t>(d_.choose(3)))};
        if (shape.size() == 1)
          for (const auto& d : t_.shape) shape.push_back(d);
        return keep(d_.b.broadcast_to(x_, shape));
      }
      case 5: {
        if (t_.rank() == 0) return;
        a = draw_axis(d_.choose, t_.rank());
        return keep(d_.b.op("concat", {x_, d_.like(t_), x_}, std::move(a)));
      }
      default: {
        const std::int64_t n = t_.elements();
        std::int64_t first = 1;
        for (std::int64_t d = 2; d <= 8; ++d)
          if (n % d == 0 && d_.choose(2)) first = d;
        return keep(d_.b.reshape(x_, n == 0 ? ir::Shape{0, 3} : ir::Shape{first, n / first}));
      }
    }
  }

  void indexed() {
    if (d_.choose(4) == 0 && !is_complex(t_.dtype)) return bits();
    if (t_.rank() == 0 || t_.elements() > d_.most / 4) return;
    if (d_.choose(2)) {
      static constexpr const char* names[] = {"scatter", "scatter_max", "scatter_min", "scatter_add", "scatter_mul"};
      auto a = draw_axis(d_.choose, t_.rank());
      const auto axis = static_cast<std::size_t>(a.integer("axis"));
      const auto count = t_.shape[axis].size() == 0 ? 0 : static_cast<std::int64_t>(d_.choose(6));
      ir::Type updates = t_;
      updates.shape[axis] = count;
      const auto at = d_.indices({count}, 0, std::max<std::int64_t>(t_.shape[axis].size(), 1));
      return keep(d_.b.op(is_complex(t_.dtype) ? names[d_.choose(2) * 3] : names[d_.choose(is_bool(t_.dtype) ? 3 : 5)], {x_, at, d_.like(updates)}, std::move(a)));
    }
    ir::Ints sizes;
    for (auto e : t_.extents()) sizes.push_back(static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(e) + 1)));
    const auto start = d_.indices({static_cast<std::int64_t>(t_.rank())}, -2, 9);
    if (d_.choose(2)) return keep(d_.b.op("dynamic_update_slice", {x_, d_.like({t_.dtype, ir::to_shape(sizes)}), start}));
    ir::AttrMap a;
    a.set("sizes", std::move(sizes));
    keep(d_.b.op("dynamic_slice", {x_, start}, std::move(a)));
  }
  /// A float's bits say little when it is not exact: those of parameters, and of integers.
  void bits() {
    const auto& params = d_.b.function().params;
    const auto to = static_cast<DType>(d_.choose(dtype_rows.size()));
    if (is_bool(t_.dtype) || is_bool(to) || is_complex(to) || (is_float(t_.dtype) && std::find(params.begin(), params.end(), x_) == params.end())) return;
    ir::AttrMap a;
    a.set("dtype", to);
    if (byte_size(to) > byte_size(t_.dtype) && (t_.rank() == 0 || t_.shape.back() != ir::Dim(byte_size(to) / byte_size(t_.dtype)))) return;
    keep(d_.b.op("bitcast_convert", {x_}, std::move(a)));
  }

  void keep(ValueId v) { out_.push_back(v); }

  const Draws& d_;
  ValueId x_;
  Type t_;
  std::vector<ValueId> out_;
};

}  // namespace

std::vector<ValueId> draw_moved(const Draws& d, ValueId x) { return Moving(d, x).any(); }

}  // namespace plumb::fuzz

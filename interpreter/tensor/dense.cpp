#include "interpreter/tensor/dense.h"

#include <limits>
#include <numeric>

namespace plumb::interp {
namespace {
bool less(DType t, Number a, Number b) {
  const Number p[] = {a, b};
  return apply(fn_id<scalar::Lt>, t, p).u;
}
bool is_nan(DType t, Number v) { return is_float(t) && std::isnan(v.f); }
/// NaN after every number.
bool sorts_before(DType t, Number a, Number b) { return is_nan(t, b) ? !is_nan(t, a) : !is_nan(t, a) && less(t, a, b); }
Number point(const Enclosed& e, DType t) { return is_float(t) ? Number{.f = e.nan ? std::nan("") : e.lo} : Number{.i = e.ilo}; }
}  // namespace

Number reduction_identity(FnId fn, DType t) {
  using namespace scalar;
  if (fn == fn_id<Mul>) return number(t, 1);
  if (fn == fn_id<And>) return is_bool(t) ? Number{.u = 1} : convert({.i = -1}, DType::i64, t);
  if (fn == fn_id<Maximum> || fn == fn_id<Minimum>) {
    const bool least = fn == fn_id<Maximum>;
    const double most = row(t).has_inf ? HUGE_VAL : std::numeric_limits<double>::max();  // which saturates
    if (is_float(t)) return convert({.f = least ? -most : most}, DType::f64, t);
    if (!is_signed(t)) return least ? Number{.u = 0} : convert({.i = -1}, DType::i64, is_bool(t) ? DType::boolean : t);
    const auto greatest = static_cast<std::int64_t>((std::uint64_t{1} << row(t).precision) - 1);
    return {.i = least ? -greatest - 1 : greatest};
  }
  return number(t, 0);
}

std::int64_t reduce_height(std::int64_t n) {
  std::int64_t height = 0;
  for (; n > 1; n = (n + 4095) / 4096) height += 15 + 8;
  return height;
}
std::int64_t dot_height(std::int64_t n) { return std::min<std::int64_t>(n, 128) + std::min<std::int64_t>((n + 127) / 128, 32) + (n + 4095) / 4096; }

bool may_truncate(const ir::Function& f, const ir::Node& n) {
  if (ir::row(n.op).op_class != ir::OpClass::contract) return false;
  return std::all_of(n.operands.begin(), n.operands.end(), [&](ir::ValueId v) {
    for (;;) {
      if (is_narrow_float(f.type(v).dtype)) return true;
      const auto maker = f.value(v).node;
      if (maker < 0 || ir::row(f.nodes[static_cast<std::size_t>(maker)].op).op_class != ir::OpClass::convert) return false;
      v = f.nodes[static_cast<std::size_t>(maker)].operands[0];
    }
  });
}

Accumulation accumulation_of(const ir::Function& f, const ir::Node& n, int number, std::int64_t height, const Declared& declared) {
  const auto it = declared.find(number);
  return number < 0 || it == declared.end() ? Accumulation(height) : capped(it->second, height, may_truncate(f, n));
}

std::int64_t arg_extremum(std::span<const Number> x, DType t, bool greatest) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < x.size() && !is_nan(t, x[best]); ++k)
    if (is_nan(t, x[k]) || (greatest ? less(t, x[best], x[k]) : less(t, x[k], x[best]))) best = k;
  return static_cast<std::int64_t>(best);
}

/// Every position that may win: not certainly beaten by another.
Enclosed arg_extremum(std::span<const Enclosed> x, DType t, bool greatest) {
  const bool all_points = std::all_of(x.begin(), x.end(), [&](const Enclosed& e) { return e.is_point(t); });
  if (all_points) {
    std::vector<Number> v;
    for (const auto& e : x) v.push_back(point(e, t));
    const auto i = arg_extremum(std::span<const Number>(v), t, greatest);
    return Enclosed::integer(i, i);
  }
  if (!is_float(t)) return Enclosed::integer(0, static_cast<std::int64_t>(x.size()) - 1);
  double bar = greatest ? -HUGE_VAL : HUGE_VAL;  // what the winner reaches at least
  for (const auto& e : x)
    if (!e.nan) bar = greatest ? std::max(bar, e.lo) : std::min(bar, e.hi);
  std::int64_t first = -1, last = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool may = x[k].nan || (greatest ? x[k].hi >= bar : x[k].lo <= bar);
    if (may && first < 0) first = static_cast<std::int64_t>(k);
    if (may) last = static_cast<std::int64_t>(k);
  }
  return Enclosed::integer(first, last);
}

std::vector<std::int64_t> stable_order(std::span<const Number> x, DType t, bool descending) {
  std::vector<std::int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const Number u = x[static_cast<std::size_t>(a)], v = x[static_cast<std::size_t>(b)];
    return descending ? sorts_before(t, v, u) : sorts_before(t, u, v);
  });
  return order;
}

std::vector<std::int64_t> stable_order(std::span<const Enclosed> x, DType t, bool descending) {
  std::vector<Number> v;
  for (const auto& e : x) {
    if (!e.is_point(t)) fail_unsupported("a sort of values that are not exact has no bound yet");
    v.push_back(point(e, t));
  }
  return stable_order(std::span<const Number>(v), t, descending);
}

}  // namespace plumb::interp

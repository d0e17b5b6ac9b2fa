#include "ir/kernel/bounds.h"

#include <algorithm>
#include <bit>

#include "ir/kernel/walk.h"

namespace plumb::kir {
namespace {

std::int64_t floor_quotient(std::int64_t x, std::int64_t c) { return x / c - (x % c < 0); }

/// low + coefficient·[a.low, a.high]; false when 64 bits do not hold it.
bool add_scaled(Range& r, std::int64_t c, const Range& a) {
  std::int64_t x = 0, y = 0;
  if (__builtin_mul_overflow(c, a.low, &x) || __builtin_mul_overflow(c, a.high, &y)) return false;
  return !__builtin_add_overflow(r.low, std::min(x, y), &r.low) && !__builtin_add_overflow(r.high, std::max(x, y), &r.high);
}

}  // namespace

void Bounds::forget(const Mark& m) {
  scope_.resize(m.vars);
  conditions_.resize(m.conditions);
}

void Bounds::enter(VarId v, const Affine& extent) {
  const auto n = range(extent);
  scope_.push_back({v, n ? std::optional(Range{0, n->high - 1}) : std::nullopt, extent.is_constant()});
}

void Bounds::assume_not(const Predicate& p) {
  if (p.size() == 1 && !p[0].equality) conditions_.push_back({p[0].expr * -1 - 1, false});
}

std::optional<Range> Bounds::atom(const Atom& a, int depth) const {
  switch (a.kind) {
    case Atom::Kind::var:
      for (const auto& s : scope_)
        if (s.var == a.id) return s.range;
      return std::nullopt;
    case Atom::Kind::value: {
      const auto v = values_.find(a.id);
      return v == values_.end() ? std::nullopt : v->second;
    }
    case Atom::Kind::floor_div: {
      const auto x = range(*a.a, depth + 1);
      if (!x) return std::nullopt;
      return Range{floor_quotient(x->low, a.divisor), floor_quotient(x->high, a.divisor)};
    }
    case Atom::Kind::mod: {
      const auto x = range(*a.a, depth + 1);
      if (!x || floor_quotient(x->low, a.divisor) != floor_quotient(x->high, a.divisor)) return Range{0, a.divisor - 1};
      const auto start = floor_quotient(x->low, a.divisor) * a.divisor;
      return Range{x->low - start, x->high - start};
    }
    case Atom::Kind::bit_xor: {
      const auto x = range(*a.a, depth + 1), y = range(*a.b, depth + 1);
      if (!x || !y || x->low < 0 || y->low < 0) return std::nullopt;
      const auto bits = std::bit_width(static_cast<std::uint64_t>(std::max(x->high, y->high)));
      return Range{0, static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1)};
    }
    default: return std::nullopt;
  }
}

/// Conditions c·atom + k >= 0 (or == 0) bound the atom itself.
std::optional<Range> Bounds::narrowed(const Atom& a, std::optional<Range> r) const {
  for (const auto& condition : conditions_) {
    const auto& e = condition.expr;
    if (e.terms().size() != 1 || compare(e.terms()[0].atom, a) != 0 || e.constant() == INT64_MIN) continue;
    const auto c = e.terms()[0].coefficient;
    const auto least = c > 0 ? -floor_quotient(e.constant(), c) : 0, most = c < 0 ? floor_quotient(e.constant(), -c) : 0;
    if (!r) r = Range{INT64_MIN / 2, INT64_MAX / 2};
    if (c > 0) r->low = std::max(r->low, least);
    if (c < 0) r->high = std::min(r->high, most);
    if (condition.equality && e.constant() % c == 0) r->low = std::max(r->low, -(e.constant() / c)), r->high = std::min(r->high, -(e.constant() / c));
  }
  return r;
}

std::optional<Range> Bounds::interval(const Affine& x, int depth) const {
  Range r{x.constant(), x.constant()};
  for (const auto& t : x.terms()) {
    const auto a = narrowed(t.atom, atom(t.atom, depth));
    if (!a || !add_scaled(r, t.coefficient, *a)) return std::nullopt;
  }
  return r;
}

namespace {
/// Multiples of a condition that may cancel terms of x against it: 1, and the quotients of their coefficients.
SmallVector<std::int64_t, 8> multiples(const Affine& x, const Affine& e) {
  constexpr std::int64_t small = std::int64_t{1} << 20, most = std::int64_t{1} << 40;
  SmallVector<std::int64_t, 8> r{1};
  const auto tame = [&](std::int64_t v) { return v > -most && v < most; };
  if (!tame(e.constant()) || !std::all_of(e.terms().begin(), e.terms().end(), [&](const Term& t) { return tame(t.coefficient); })) return r;
  for (const auto& t : x.terms())
    for (const auto& u : e.terms()) {
      if (compare(t.atom, u.atom) != 0 || !tame(t.coefficient) || t.coefficient % u.coefficient != 0) continue;
      const auto m = std::abs(t.coefficient / u.coefficient);
      if (m < small && r.size() < 8 && std::find(r.begin(), r.end(), m) == r.end()) r.push_back(m);
    }
  return r;
}
}  // namespace

/// From expr >= 0, for any m > 0: x = (x - m·expr) + m·expr >= x - m·expr, and x <= x + m·expr. Conditions speak of expressions inside x too, but
/// not without end: they hold quotients themselves.
std::optional<Range> Bounds::range(const Affine& x, int depth) const {
  const auto r = interval(x, depth);
  if (depth > 1) return r;
  std::optional<std::int64_t> low, high;
  if (r) low = r->low, high = r->high;
  for (const auto& c : conditions_)
    for (auto m : multiples(x, c.expr)) {
      const auto above = interval(x - c.expr * m, depth), below = interval(x + c.expr * m, depth);
      if (above) low = std::max(low.value_or(above->low), above->low);
      if (below) high = std::min(high.value_or(below->high), below->high);
      if (c.equality && below) low = std::max(low.value_or(below->low), below->low);
      if (c.equality && above) high = std::min(high.value_or(above->high), above->high);
    }
  if (!low || !high) return std::nullopt;
  return Range{*low, *high};
}

bool Bounds::unreachable() const {
  for (const auto& s : scope_)
    if (s.range && s.range->high < s.range->low) return true;
  const auto empty = [&](const Term& t) {
    const auto r = narrowed(t.atom, atom(t.atom, 0));
    return r && r->high < r->low;
  };
  // e >= 0 and f >= 0 give e + f >= 0.
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const auto r = interval(conditions_[i].expr + conditions_[j].expr, 0); r && r->high < 0) return true;
  return std::any_of(conditions_.begin(), conditions_.end(), [&](const Condition& c) {
    if (std::any_of(c.expr.terms().begin(), c.expr.terms().end(), empty)) return true;
    const auto r = interval(c.expr, 0);
    return r && (r->high < 0 || (c.equality && r->low > 0));
  });
}

bool Bounds::attains_extremes(const Affine& x) const {
  if (!conditions_.empty()) return false;
  return std::all_of(x.terms().begin(), x.terms().end(), [&](const Term& t) {
    return t.atom.kind == Atom::Kind::var && std::any_of(scope_.begin(), scope_.end(), [&](const Scoped& s) { return s.var == t.atom.id && s.whole; });
  });
}

}  // namespace plumb::kir

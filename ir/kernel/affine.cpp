#include "ir/kernel/affine.h"

#include <algorithm>

#include "ir/support/error.h"

namespace plumb::kir {
namespace {

std::int64_t floor_quotient(std::int64_t x, std::int64_t c) { return x >= 0 ? x / c : -((-x + c - 1) / c); }

int order(std::int64_t x, std::int64_t y) { return x < y ? -1 : x > y; }

int compare_optional(const std::shared_ptr<const Affine>& x, const std::shared_ptr<const Affine>& y) {
  if (!x || !y) return order(x != nullptr, y != nullptr);
  return x == y ? 0 : compare(*x, *y);
}

}  // namespace

int compare(const Atom& x, const Atom& y) {
  if (int c = order(static_cast<int>(x.kind), static_cast<int>(y.kind))) return c;
  if (int c = order(x.id, y.id)) return c;
  if (int c = order(x.divisor, y.divisor)) return c;
  if (int c = compare_optional(x.a, y.a)) return c;
  return compare_optional(x.b, y.b);
}

int compare(const Affine& x, const Affine& y) {
  if (int c = order(x.constant_, y.constant_)) return c;
  if (int c = order(static_cast<std::int64_t>(x.terms_.size()), static_cast<std::int64_t>(y.terms_.size()))) return c;
  for (std::size_t i = 0; i < x.terms_.size(); ++i) {
    if (int c = compare(x.terms_[i].atom, y.terms_[i].atom)) return c;
    if (int c = order(x.terms_[i].coefficient, y.terms_[i].coefficient)) return c;
  }
  return 0;
}

Affine Affine::of(Atom a) {
  Affine r;
  r.terms_.push_back({1, std::move(a)});
  return r;
}

std::int64_t Affine::coefficient_of(VarId v) const {
  for (const auto& t : terms_)
    if (t.atom.kind == Atom::Kind::var && t.atom.id == v) return t.coefficient;
  return 0;
}

bool Affine::mentions(VarId v) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& t) {
    return (t.atom.kind == Atom::Kind::var && t.atom.id == v) || (t.atom.a && t.atom.a->mentions(v)) || (t.atom.b && t.atom.b->mentions(v));
  });
}

bool Affine::mentions_value() const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const Term& t) {
    return t.atom.kind == Atom::Kind::value || (t.atom.a && t.atom.a->mentions_value()) || (t.atom.b && t.atom.b->mentions_value());
  });
}

Affine operator+(const Affine& x, const Affine& y) {
  Affine r(x.constant_ + y.constant_);
  auto i = x.terms_.begin(), j = y.terms_.begin();
  while (i != x.terms_.end() || j != y.terms_.end()) {
    const int c = i == x.terms_.end() ? 1 : j == y.terms_.end() ? -1 : compare(i->atom, j->atom);
    if (c < 0) r.terms_.push_back(*i++);
    else if (c > 0) r.terms_.push_back(*j++);
    else {
      if (i->coefficient + j->coefficient != 0) r.terms_.push_back({i->coefficient + j->coefficient, i->atom});
      ++i, ++j;
    }
  }
  return r;
}

Affine operator*(const Affine& x, std::int64_t c) {
  if (c == 0) return Affine(0);
  Affine r = x;
  r.constant_ *= c;
  for (auto& t : r.terms_) t.coefficient *= c;
  return r;
}

std::optional<Range> range(const Affine& x, const AtomRange& ranges) {
  Range r{x.constant(), x.constant()};
  for (const auto& t : x.terms()) {
    std::optional<Range> a = ranges ? ranges(t.atom) : std::nullopt;
    if (!a && t.atom.kind == Atom::Kind::mod) a = Range{0, t.atom.divisor - 1};
    if (!a && t.atom.kind == Atom::Kind::floor_div) {
      if (auto inner = range(*t.atom.a, ranges)) a = Range{floor_quotient(inner->low, t.atom.divisor), floor_quotient(inner->high, t.atom.divisor)};
    }
    if (!a) return std::nullopt;
    r.low += t.coefficient * (t.coefficient > 0 ? a->low : a->high);
    r.high += t.coefficient * (t.coefficient > 0 ? a->high : a->low);
  }
  return r;
}

namespace {
/// x = c·quotient + rest, with the multiples of c split off by coefficients alone.
std::pair<Affine, Affine> split_multiples(const Affine& x, std::int64_t c) {
  Affine quotient(floor_quotient(x.constant(), c)), rest(x.constant() - c * floor_quotient(x.constant(), c));
  for (const auto& t : x.terms()) {
    Affine atom = t.atom.kind == Atom::Kind::var ? Affine::var(t.atom.id) : Affine();
    if (t.atom.kind != Atom::Kind::var) {
      if (t.atom.kind == Atom::Kind::symbol) atom = Affine::symbol(t.atom.id);
      else if (t.atom.kind == Atom::Kind::coordinate) atom = Affine::coordinate(t.atom.id);
      else if (t.atom.kind == Atom::Kind::value) atom = Affine::value(t.atom.id);
      else if (t.atom.kind == Atom::Kind::floor_div) atom = floor_div(*t.atom.a, t.atom.divisor);
      else if (t.atom.kind == Atom::Kind::mod) atom = mod(*t.atom.a, t.atom.divisor);
      else atom = bit_xor(*t.atom.a, *t.atom.b);
    }
    const std::int64_t q = floor_quotient(t.coefficient, c);
    quotient = quotient + atom * q;
    rest = rest + atom * (t.coefficient - q * c);
  }
  return {quotient, rest};
}
}  // namespace

Affine floor_div(const Affine& x, std::int64_t c, const AtomRange& ranges) {
  require(c > 0, "division is by a positive constant");
  if (c == 1) return x;
  if (x.is_constant()) return floor_quotient(x.constant(), c);
  if (ranges) {
    auto [quotient, rest] = split_multiples(x, c);
    if (auto r = range(rest, ranges); r && floor_quotient(r->low, c) == floor_quotient(r->high, c)) return quotient + floor_quotient(r->low, c);
    if (!quotient.is_constant() || quotient.constant() != 0) return quotient + floor_div(rest, c);
  }
  // floor(floor(y / d) / c) = floor(y / (c·d))
  if (x.constant() == 0 && x.terms().size() == 1 && x.terms()[0].coefficient == 1 && x.terms()[0].atom.kind == Atom::Kind::floor_div)
    return floor_div(*x.terms()[0].atom.a, x.terms()[0].atom.divisor * c, ranges);
  return Affine::of({Atom::Kind::floor_div, 0, c, std::make_shared<Affine>(x), nullptr});
}

Affine mod(const Affine& x, std::int64_t c, const AtomRange& ranges) {
  require(c > 0, "remainder is by a positive constant");
  if (c == 1) return 0;
  if (x.is_constant()) return x.constant() - c * floor_quotient(x.constant(), c);
  if (ranges) {
    const Affine rest = split_multiples(x, c).second;
    if (rest.is_constant()) return rest;
    if (auto r = range(rest, ranges); r && floor_quotient(r->low, c) == floor_quotient(r->high, c)) return rest - c * floor_quotient(r->low, c);
    return Affine::of({Atom::Kind::mod, 0, c, std::make_shared<Affine>(rest), nullptr});
  }
  return Affine::of({Atom::Kind::mod, 0, c, std::make_shared<Affine>(x), nullptr});
}

Affine bit_xor(const Affine& x, const Affine& y) {
  if (x.is_constant() && y.is_constant()) return x.constant() ^ y.constant();
  return Affine::of({Atom::Kind::bit_xor, 0, 1, std::make_shared<Affine>(x), std::make_shared<Affine>(y)});
}

Affine substitute(const Affine& x, const std::function<std::optional<Affine>(const Atom&)>& replace, const AtomRange& ranges) {
  Affine r(x.constant());
  for (const auto& t : x.terms()) {
    std::optional<Affine> a = replace(t.atom);
    if (!a) switch (t.atom.kind) {
        case Atom::Kind::var: a = Affine::var(t.atom.id); break;
        case Atom::Kind::symbol: a = Affine::symbol(t.atom.id); break;
        case Atom::Kind::coordinate: a = Affine::coordinate(t.atom.id); break;
        case Atom::Kind::value: a = Affine::value(t.atom.id); break;
        case Atom::Kind::floor_div: a = floor_div(substitute(*t.atom.a, replace, ranges), t.atom.divisor, ranges); break;
        case Atom::Kind::mod: a = mod(substitute(*t.atom.a, replace, ranges), t.atom.divisor, ranges); break;
        case Atom::Kind::bit_xor: a = bit_xor(substitute(*t.atom.a, replace, ranges), substitute(*t.atom.b, replace, ranges)); break;
      }
    r = r + *a * t.coefficient;
  }
  return r;
}

Affine recombine(Affine x) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& t : x.terms()) {
      if (t.atom.kind != Atom::Kind::mod) continue;
      const Affine quotient = floor_div(*t.atom.a, t.atom.divisor);
      if (quotient.constant() != 0 || quotient.terms().size() != 1 || quotient.terms()[0].coefficient != 1) continue;
      const Atom& wanted = quotient.terms()[0].atom;
      const bool paired = std::any_of(x.terms().begin(), x.terms().end(), [&](const Term& u) {
        return u.coefficient == t.coefficient * t.atom.divisor && compare(u.atom, wanted) == 0;
      });
      if (!paired) continue;
      const Affine remainder = mod(*t.atom.a, t.atom.divisor);
      x = x - remainder * t.coefficient - quotient * (t.coefficient * t.atom.divisor) + *t.atom.a * t.coefficient;
      changed = true;
      break;
    }
  }
  return x;
}

}  // namespace plumb::kir

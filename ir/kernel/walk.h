// Walking kernels: what a statement defines, uses and holds.
#pragma once
#include <algorithm>
#include <type_traits>

#include "ir/kernel/kernel.h"

namespace plumb::kir {

/// The scalar that a statement defines, or -1.
inline ScalarId result_of(const Stmt& s) {
  return std::visit([](const auto& n) -> ScalarId {
    if constexpr (requires { n.result; }) return n.result;
    else return -1;
  }, s.node);
}

/// Calls f on each block that a statement holds: a loop's body; a condition's `then`, then its `otherwise`.
template <class F> void for_each_block(const Stmt& s, F f) {
  if (auto* loop = std::get_if<For>(&s.node)) f(loop->body);
  else if (auto* i = std::get_if<If>(&s.node)) f(i->then), f(i->otherwise);
  else if (auto* v = std::get_if<IfValue>(&s.node)) f(v->then);
}

/// Calls f on each statement, outer before inner.
template <class F> void for_each_statement(const Block& b, const F& f) {
  for (const auto& s : b) {
    f(s);
    for_each_block(s, [&](const Block& inner) { for_each_statement(inner, f); });
  }
}

/// Calls f on each index expression that a statement holds itself: indices, extents, conditions, lanes.
template <class F> void for_each_affine(const Stmt& s, F f) {
  const auto predicate = [&](const Predicate& p) {
    for (const auto& c : p) f(c.expr);
  };
  std::visit([&](const auto& n) {
    using S = std::decay_t<decltype(n)>;
    if constexpr (requires { n.index; }) std::for_each(n.index.begin(), n.index.end(), f);
    if constexpr (requires { n.guard; }) predicate(n.guard);
    if constexpr (std::is_same_v<S, IndexValue>) f(n.expr);
    if constexpr (std::is_same_v<S, Test>) predicate(n.predicate);
    if constexpr (std::is_same_v<S, Shuffle>) f(n.lane);
    if constexpr (std::is_same_v<S, For>) f(n.extent);
    if constexpr (std::is_same_v<S, If>) predicate(n.condition);
    if constexpr (std::is_same_v<S, AsyncCopy>) std::for_each(n.to_index.begin(), n.to_index.end(), f), std::for_each(n.from_index.begin(), n.from_index.end(), f);
  }, s.node);
}

/// Calls f on each scalar that a statement uses as an operand (those inside index expressions are not among them).
template <class F> void for_each_operand(const Stmt& s, F f) {
  std::visit([&](const auto& n) {
    using S = std::decay_t<decltype(n)>;
    if constexpr (std::is_same_v<S, Apply>) std::for_each(n.args.begin(), n.args.end(), f);
    if constexpr (requires { n.arg; }) f(n.arg);
    if constexpr (requires { n.on_true; }) f(n.condition), f(n.on_true), f(n.on_false);
    if constexpr (std::is_same_v<S, Load>) {
      if (!n.guard.empty() || n.other >= 0) f(n.other);
    }
    if constexpr (std::is_same_v<S, Store> || std::is_same_v<S, CheckIndex> || std::is_same_v<S, TileFill>) f(n.value);
    if constexpr (std::is_same_v<S, Combine>) {
      f(n.a);
      if (n.b >= 0) f(n.b);
    }
    if constexpr (std::is_same_v<S, IfValue>) f(n.condition);
  }, s.node);
}

/// Calls f on each atom of an expression, those inside other atoms included.
template <class F> void for_each_atom(const Affine& a, const F& f) {
  for (const auto& t : a.terms()) {
    f(t.atom);
    if (t.atom.a) for_each_atom(*t.atom.a, f);
    if (t.atom.b) for_each_atom(*t.atom.b, f);
  }
}

/// An atom as an expression, as it stands.
inline Affine affine_of(const Atom& a) {
  switch (a.kind) {
    case Atom::Kind::var: return Affine::var(a.id);
    case Atom::Kind::symbol: return Affine::symbol(a.id);
    case Atom::Kind::coordinate: return Affine::coordinate(a.id);
    case Atom::Kind::value: return Affine::value(a.id);
    case Atom::Kind::floor_div: return floor_div(*a.a, a.divisor);
    case Atom::Kind::mod: return mod(*a.a, a.divisor);
    case Atom::Kind::bit_xor: return bit_xor(*a.a, *a.b);
  }
  return {};
}

}  // namespace plumb::kir

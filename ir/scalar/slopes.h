// Slopes of the scalar functions, over any domain of values.
//
// A record's `partials` gives one slope an argument, as formulas of Terms: x * y, pow(x, y - 1), select(eq(y, 0), …). They
// become calls of the domain's own words, so that one text is computed with, enclosed, built into a graph or printed.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>

#include "ir/scalar/functions.h"

namespace plumb::scalar {

/// The words. apply(Fn{}, …) is the scalar function, of Values or, for `and`, of Conditions; functions that give bool give a
/// Condition. constant_like(x, c) is c in x's dtype (and shape), rounded once. select takes no branch: both sides are there.
template <class D> concept ScalarWords = requires(D& d, const typename D::Value& x, const typename D::Condition& c) {
  { d.constant_like(x, 1.0) } -> std::same_as<typename D::Value>;
  { d.apply(Exp{}, x) } -> std::same_as<typename D::Value>;
  { d.apply(Mul{}, x, x) } -> std::same_as<typename D::Value>;
  { d.apply(Lt{}, x, x) } -> std::same_as<typename D::Condition>;
  { d.apply(And{}, c, c) } -> std::same_as<typename D::Condition>;
  { d.select(c, x, x) } -> std::same_as<typename D::Value>;
};

template <class Fn, class D, class... Rest> auto call(const Term<D>& x, const Rest&... rest) {
  if constexpr (Fn::row.gives == Gives::boolean) return Condition<D>{x.d, x.d->apply(Fn{}, x.v, rest.v...)};
  else return Term<D>{x.d, x.d->apply(Fn{}, x.v, rest.v...)};
}

template <class D> Term<D> operator+(const Term<D>& x, const Term<D>& y) { return call<Add>(x, y); }
template <class D> Term<D> operator-(const Term<D>& x, const Term<D>& y) { return call<Sub>(x, y); }
template <class D> Term<D> operator*(const Term<D>& x, const Term<D>& y) { return call<Mul>(x, y); }
template <class D> Term<D> operator/(const Term<D>& x, const Term<D>& y) { return call<Div>(x, y); }
template <class D> Term<D> operator-(const Term<D>& x) { return call<Neg>(x); }
template <class D> Term<D> operator+(double x, const Term<D>& y) { return like(y, x) + y; }
template <class D> Term<D> operator+(const Term<D>& x, double y) { return x + like(x, y); }
template <class D> Term<D> operator-(double x, const Term<D>& y) { return like(y, x) - y; }
template <class D> Term<D> operator-(const Term<D>& x, double y) { return x - like(x, y); }
template <class D> Term<D> operator*(double x, const Term<D>& y) { return like(y, x) * y; }
template <class D> Term<D> operator/(double x, const Term<D>& y) { return like(y, x) / y; }

template <class D> Term<D> abs(const Term<D>& x) { return call<Abs>(x); }
template <class D> Term<D> sign(const Term<D>& x) { return call<Sign>(x); }
template <class D> Term<D> sqrt(const Term<D>& x) { return call<Sqrt>(x); }
template <class D> Term<D> rsqrt(const Term<D>& x) { return call<Rsqrt>(x); }
template <class D> Term<D> cbrt(const Term<D>& x) { return call<Cbrt>(x); }
template <class D> Term<D> exp(const Term<D>& x) { return call<Exp>(x); }
template <class D> Term<D> exp2(const Term<D>& x) { return call<Exp2>(x); }
template <class D> Term<D> log(const Term<D>& x) { return call<Log>(x); }
template <class D> Term<D> sin(const Term<D>& x) { return call<Sin>(x); }
template <class D> Term<D> cos(const Term<D>& x) { return call<Cos>(x); }
template <class D> Term<D> tan(const Term<D>& x) { return call<Tan>(x); }
template <class D> Term<D> sinh(const Term<D>& x) { return call<Sinh>(x); }
template <class D> Term<D> cosh(const Term<D>& x) { return call<Cosh>(x); }
template <class D> Term<D> sigmoid(const Term<D>& x) { return call<Sigmoid>(x); }
template <class D> Term<D> floor_div(const Term<D>& x, const Term<D>& y) { return call<FloorDiv>(x, y); }
template <class D> Term<D> pow(const Term<D>& x, const Term<D>& y) { return call<Pow>(x, y); }
template <class D> Term<D> hypot(const Term<D>& x, const Term<D>& y) { return call<Hypot>(x, y); }

template <class D> Condition<D> eq(const Term<D>& x, const Term<D>& y) { return call<Eq>(x, y); }
template <class D> Condition<D> lt(const Term<D>& x, const Term<D>& y) { return call<Lt>(x, y); }
template <class D> Condition<D> ge(const Term<D>& x, const Term<D>& y) { return call<Ge>(x, y); }
template <class D> Condition<D> operator&(const Condition<D>& a, const Condition<D>& b) { return {a.d, a.d->apply(And{}, a.v, b.v)}; }
template <class D> Term<D> select(const Condition<D>& c, const Term<D>& yes, const Term<D>& no) { return {c.d, c.d->select(c.v, yes.v, no.v)}; }

/// The slope of Fn with respect to each argument, at the arguments.
template <class Fn, ScalarWords D, class... Values> requires Differentiable<Fn> && (sizeof...(Values) == Fn::row.arity)
std::array<typename D::Value, sizeof...(Values)> partials(D& d, const Values&... arguments) {
  const auto slopes = Fn::partials(Term<D>{&d, arguments}...);
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return std::array<typename D::Value, sizeof...(Values)>{slopes[I].v...}; }(std::make_index_sequence<sizeof...(Values)>{});
}

}  // namespace plumb::scalar

// Formulas over tensors of one shape, as one would write them: each operator adds an operation to the builder's function.
#pragma once
#include "ir/tensor/builder.h"

namespace plumb::ir {

/// A value in a formula.
struct Term {
  Builder* b;
  ValueId id;
  /// A constant of this term's type.
  Term like(double value) const { return {b, b->splat_like(id, value)}; }
  Term operator-() const { return {b, b->op("neg", {id})}; }
};
inline Term call(std::string_view op, Term x) { return {x.b, x.b->op(op, {x.id})}; }
inline Term call(std::string_view op, Term x, Term y) { return {x.b, x.b->op(op, {x.id, y.id})}; }

inline Term operator+(Term x, Term y) { return call("add", x, y); }
inline Term operator-(Term x, Term y) { return call("sub", x, y); }
inline Term operator*(Term x, Term y) { return call("mul", x, y); }
inline Term operator/(Term x, Term y) { return call("div", x, y); }
inline Term operator+(Term x, double c) { return x + x.like(c); }
inline Term operator-(Term x, double c) { return x - x.like(c); }
inline Term operator*(Term x, double c) { return x * x.like(c); }
inline Term operator/(Term x, double c) { return x / x.like(c); }
inline Term operator==(Term x, Term y) { return call("eq", x, y); }
inline Term operator!=(Term x, Term y) { return call("ne", x, y); }
inline Term operator<(Term x, Term y) { return call("lt", x, y); }
inline Term operator>(Term x, Term y) { return call("gt", x, y); }
inline Term operator>=(Term x, Term y) { return call("ge", x, y); }
inline Term operator==(Term x, double c) { return x == x.like(c); }
inline Term operator!=(Term x, double c) { return x != x.like(c); }
inline Term operator<(Term x, double c) { return x < x.like(c); }
inline Term operator>(Term x, double c) { return x > x.like(c); }
inline Term operator>=(Term x, double c) { return x >= x.like(c); }
// Of bools, both sides always computed.
inline Term operator&(Term x, Term y) { return call("and", x, y); }
inline Term operator|(Term x, Term y) { return call("or", x, y); }
inline Term operator!(Term x) { return call("not", x); }
inline Term select(Term condition, Term x, Term y) { return {x.b, x.b->op("select", {condition.id, x.id, y.id})}; }
inline Term select(Term condition, Term x, double c) { return select(condition, x, x.like(c)); }
inline Term select(Term condition, double c, Term y) { return select(condition, y.like(c), y); }
inline Term abs(Term x) { return call("abs", x); }
inline Term is_nan(Term x) { return call("is_nan", x); }
inline Term is_inf(Term x) { return call("is_inf", x); }
inline Term is_finite(Term x) { return call("is_finite", x); }
inline Term sign_bit(Term x) { return call("sign_bit", x); }
inline Term sqrt(Term x) { return call("sqrt", x); }
inline Term maximum(Term x, Term y) { return call("maximum", x, y); }
inline Term minimum(Term x, Term y) { return call("minimum", x, y); }
/// |x| with y's sign; a NaN's sign reads as plus.
inline Term copy_sign(Term x, Term y) { return select(sign_bit(y), -abs(x), abs(x)); }

}  // namespace plumb::ir

#include "verify/function_judge.h"

#include <cmath>
#include <limits>

#include "interpreter/domains/enclosure.h"
#include "verify/compare_block.h"

namespace plumb::verify {

using ir::Literal;

void Judge::note(double (&at)[2], const std::vector<Literal>& in, std::int64_t i) const {
  for (std::size_t k = 0; k < in.size(); ++k) at[k] = interp::load(result.dtype, in[k].raw(), i).f;
}

bool Judge::enclosed(std::int64_t i, const std::vector<Literal>& in, const Literal& relaxed) const {
  interp::Enclosed points[2];
  for (std::size_t k = 0; k < in.size(); ++k) points[k] = interp::Enclosed::point(result.dtype, interp::load(result.dtype, in[k].raw(), i));
  const auto allowed = interp::stored(interp::enclose(result.fn, result.dtype, std::span(points, in.size())), result.dtype);
  return interp::contains(allowed, result.dtype, interp::load(result.dtype, relaxed.raw(), i));
}

/// With `rounded_` and `value_` filled: counts, and the witnesses of what is new. A relaxed answer within the bound of the exact value, less
/// what that value's own error may hide, lies in the enclosure, which is at least as wide; the others are looked at one by one.
void Judge::stretch(std::int64_t n, const std::vector<Literal>& in, const Literal& strict, const Literal& relaxed) {
  const auto size = static_cast<std::size_t>(n);
  const Answers a{std::span(rounded_).first(size), std::span(value_).first(size), {static_cast<const float*>(strict.raw()), size}, {static_cast<const float*>(relaxed.raw()), size}};
  const double bound = plumb::row(result.fn).ulp - 0x1p-20;
  const Comparison c = compare(a, bound);
  if (c.misrounded && result.misrounded == 0) note(result.misrounded_at, in, find(a, bound, Sought::misrounded, 0));
  result.misrounded += c.misrounded;
  if (c.worst_ulp > result.worst_ulp) result.worst_ulp = c.worst_ulp, note(result.worst_at, in, find(a, bound, Sought::worst, c.worst_ulp));
  for (std::int64_t i = find(a, bound, Sought::doubtful, 0, c.doubtful ? 0 : n), left = c.doubtful; left > 0; --left, i = find(a, bound, Sought::doubtful, 0, i + 1))
    if (!enclosed(i, in, relaxed) && result.beyond++ == 0) note(result.beyond_at, in, i);
}

void Judge::sweep(std::uint32_t first, std::int64_t n, const std::vector<Literal>& in, const Literal& strict, const Literal& relaxed) {
  rounded_.resize(static_cast<std::size_t>(n));
  value_.resize(static_cast<std::size_t>(n));
  result.by += interp::f32_reference(result.fn, first, rounded_, value_);
  stretch(n, in, strict, relaxed);
  result.inputs += n;
}

void Judge::each(std::int64_t n, const std::vector<Literal>& in, const Literal& strict, const Literal& relaxed) {
  result.inputs += n;
  if (result.dtype != DType::f32) {
    for (std::int64_t i = 0; i < n; ++i) one(i, in, strict, relaxed);
    return;
  }
  rounded_.resize(static_cast<std::size_t>(n));
  value_.resize(static_cast<std::size_t>(n));
  const bool elementary = plumb::row(result.fn).ulp > 0.5;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    interp::Number x[2] = {};
    for (std::size_t k = 0; k < in.size(); ++k) x[k].f = static_cast<double>(static_cast<const float*>(in[k].raw())[i]);
    rounded_[i] = static_cast<float>(elementary ? interp::elementary(result.fn, DType::f32, x[0].f, x[1].f, &value_[i]) : interp::apply(result.fn, DType::f32, std::span(x, in.size())).f);
    if (!elementary) value_[i] = interp::apply(result.fn, DType::f64, std::span(x, in.size())).f;
  }
  stretch(n, in, strict, relaxed);
}

void Judge::one(std::int64_t i, const std::vector<Literal>& in, const Literal& strict_answers, const Literal& relaxed_answers) {
  const DType t = result.dtype;
  const FnId fn = result.fn;
  interp::Number x[2] = {};
  for (std::size_t k = 0; k < in.size(); ++k) x[k] = interp::load(t, in[k].raw(), i);
  const auto strict = interp::load(t, strict_answers.raw(), i), relaxed = interp::load(t, relaxed_answers.raw(), i);
  const auto wanted = interp::apply(fn, t, std::span(x, in.size()));
  if (!interp::same(t, strict, wanted) && result.misrounded++ == 0) note(result.misrounded_at, in, i);
  if (!interp::same(t, relaxed, wanted) && !enclosed(i, in, relaxed_answers) && result.beyond++ == 0) note(result.beyond_at, in, i);
  if (!std::isfinite(relaxed.f) || !std::isfinite(wanted.f)) return;
  const bool approximated = t != DType::f64 && plumb::row(fn).ulp > 0.5;
  const double exact = approximated ? interp::approximate(fn, x[0].f, x[1].f) : interp::apply(fn, DType::f64, std::span(x, in.size())).f, off = std::fabs(relaxed.f - exact) / interp::ulp(t, exact);
  const bool saturates = !row(t).has_inf && std::fabs(exact) > interp::round_to(t, std::numeric_limits<double>::max());
  if (off > result.worst_ulp && !saturates) result.worst_ulp = off, note(result.worst_at, in, i);
}

}  // namespace plumb::verify

#include "verify/recorded.h"

#include <fmt/format.h>

#include <cmath>

#include "verify/oracle.h"

namespace plumb::verify {
namespace {

DType wide(DType t) { return t == DType::f32 ? DType::f64 : t == DType::c64 ? DType::c128 : t; }
double at(const ir::Literal& l, std::int64_t i) { return interp::load(l.dtype(), l.raw(), i).f; }

/// 16 d plus 4 units in the last place of the largest magnitude.
double measured_scale(const ir::Literal& ours, const ir::Literal& wide_answer) {
  double d = 0, largest = 0;
  for (std::int64_t i = 0; i < ours.elements(); ++i) {
    const double w = at(wide_answer, i), o = at(ours, i);
    if (!std::isfinite(w) || !std::isfinite(o)) continue;
    d = std::max(d, std::fabs(o - w));
    largest = std::max(largest, std::fabs(w));
  }
  return 16 * d + 4 * interp::ulp(ours.dtype(), largest);
}

}  // namespace

ir::Literal widen(const ir::Literal& l) {
  if (l.dtype() == DType::c64) return widen(l.as_parts()).viewed_as({DType::c128, l.type().shape});
  if (l.dtype() != DType::f32) return l;
  ir::Literal r(ir::Type{DType::f64, l.type().shape});
  for (std::int64_t i = 0; i < l.elements(); ++i) r.mutable_data<double>()[i] = static_cast<double>(l.data<float>()[i]);
  return r;
}

ir::Module widen(const ir::Module& m) {
  ir::Module r = m;
  for (auto& f : r.functions) {
    for (auto& v : f.values) v.type.dtype = wide(v.type.dtype);
    for (auto& n : f.nodes) {
      ir::AttrMap attrs;
      for (const auto& [name, value] : n.attrs.entries()) {
        if (auto* l = std::get_if<ir::Literal>(&value)) attrs.set(name, widen(*l));
        else if (auto* t = std::get_if<DType>(&value)) attrs.set(name, wide(*t));
        else attrs.set(name, value);
      }
      n.attrs = std::move(attrs);
    }
  }
  return r;
}

Comparison compare_recorded(const ir::Literal& ours, const ir::Literal& wide_answer, const ir::Literal& recorded, const interp::EnclosedTensor* enclosed) {
  if (is_complex(ours.dtype()) && recorded.type() == ours.type()) return compare_recorded(ours.as_parts(), wide_answer.as_parts(), recorded.as_parts(), enclosed);
  Comparison c;
  const DType t = ours.dtype();
  c.elements = ours.elements();
  if (recorded.type() != ours.type()) {
    c.wrong = std::max<std::int64_t>(1, c.elements);
    c.first_wrong = "the recorded output is " + recorded.type().str() + ", the program gives " + ours.type().str();
    return c;
  }
  if (is_float(t)) c.scale = measured_scale(ours, wide_answer);
  for (std::int64_t i = 0; i < c.elements; ++i) {
    const auto o = interp::load(t, ours.raw(), i), r = interp::load(t, recorded.raw(), i);
    std::string why;
    if (!is_float(t) || !std::isfinite(o.f) || !std::isfinite(r.f)) {
      ++c.by_equality;
      if (is_float(t) ? !(r.f == o.f || (std::isnan(r.f) && std::isnan(o.f))) : r.u != o.u) why = "different";
    } else if (const auto* e = enclosed ? &enclosed->elements[static_cast<std::size_t>(i)] : nullptr; e && !interp::is_wide(*e, t)) {
      ++c.by_enclosure;
      if (!interp::contains(interp::stored(*e, t), t, r)) why = "allowed is " + show(t, interp::stored(*e, t));
    } else {
      ++c.by_scale;
      const double w = at(wide_answer, i), distance = std::fabs(r.f - w);
      c.worst = std::max(c.worst, distance);
      if (!(distance <= c.scale)) why = fmt::format("{} in f64, {:.3g} away, {:.3g} allowed", w, distance, c.scale);
    }
    if (!why.empty() && c.wrong++ == 0) c.first_wrong = fmt::format("at {}: got {}, recorded {}: {}", show_index(i, ours.extents()), show(t, o), show(t, r), why);
  }
  return c;
}

}  // namespace plumb::verify

// Recorded answers of other compilers, judged by a measured rounding scale.
#include <fmt/format.h>

#include <cmath>

#include "interpreter/domains/enclosure.h"
#include "ir/tensor/op_table.h"
#include "verify/check.h"

namespace plumb::verify {
namespace {
DType wide(DType t) { return t == DType::f32 ? DType::f64 : t; }
}  // namespace

ir::Literal widen(const ir::Literal& l) {
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

Comparison compare_recorded(const ir::Literal& ours, const ir::Literal& wide_answer, const ir::Literal& recorded) {
  Comparison c;
  const DType t = ours.dtype();
  c.elements = ours.elements();
  auto note = [&](std::int64_t i, const std::string& what) {
    if (c.wrong++ == 0) {
      const auto at = delinearize(i, ours.extents());
      c.first_wrong = fmt::format("at [{}]: {}", fmt::join(at.begin(), at.end(), ","), what);
    }
  };
  if (recorded.type() != ours.type()) {
    c.wrong = c.elements;
    c.first_wrong = "the recorded output is " + recorded.type().str() + ", the program gives " + ours.type().str();
    return c;
  }
  if (!is_float(t)) {
    for (std::int64_t i = 0; i < c.elements; ++i)
      if (ours.int_at(i) != recorded.int_at(i)) note(i, fmt::format("got {}, recorded {}", ours.int_at(i), recorded.int_at(i)));
    return c;
  }
  auto at = [](const ir::Literal& l, std::int64_t i) { return interp::load(l.dtype(), l.raw(), i).f; };
  double d = 0, largest = 0;
  for (std::int64_t i = 0; i < c.elements; ++i) {
    const double w = at(wide_answer, i), o = at(ours, i);
    if (!std::isfinite(w) || !std::isfinite(o)) continue;
    d = std::max(d, std::fabs(o - w));
    largest = std::max(largest, std::fabs(w));
  }
  c.scale = 16 * d + 4 * interp::ulp(t, largest);
  for (std::int64_t i = 0; i < c.elements; ++i) {
    const double w = at(wide_answer, i), o = at(ours, i), r = at(recorded, i);
    if (std::isnan(r) || std::isinf(r) || std::isnan(o) || std::isinf(o)) {
      if (!(r == o || (std::isnan(r) && std::isnan(o)))) note(i, fmt::format("got {}, recorded {}", o, r));
      continue;
    }
    c.worst = std::max(c.worst, std::fabs(r - w));
    if (!(std::fabs(r - w) <= c.scale)) note(i, fmt::format("got {}, in f64 {}, recorded {}: further than {}", o, w, r, c.scale));
  }
  return c;
}

}  // namespace plumb::verify

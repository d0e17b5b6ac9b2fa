// Tensors as text, as NumPy prints arrays.
#include <fmt/format.h>

#include <cmath>

#include "ir/scalar/storage.h"
#include "tools/cli.h"

namespace plumb::tools {

std::string result_name(const ir::Function& f, std::size_t k) { return k < f.result_names.size() && !f.result_names[k].empty() ? f.result_names[k] : "result" + std::to_string(k); }

namespace {

constexpr std::int64_t whole = 1000, edge = 3;  // NumPy's threshold and edgeitems

std::string element(const ir::Literal& l, std::int64_t i);

/// As NumPy prints it: 1.-2.j
std::string complex_element(const ir::Literal& l, std::int64_t i) {
  const auto parts = l.as_parts();
  const auto im = element(parts, 2 * i + 1);
  return element(parts, 2 * i) + (im.starts_with('-') ? "" : "+") + im + "j";
}

std::string element(const ir::Literal& l, std::int64_t i) {
  const DType t = l.dtype();
  if (is_complex(t)) return complex_element(l, i);
  if (is_bool(t)) return l.int_at(i) ? "True" : "False";
  if (t == DType::u64) return fmt::format("{}", static_cast<std::uint64_t>(l.int_at(i)));
  if (!is_float(t)) return fmt::format("{}", l.int_at(i));
  const double v = load_element(t, l.raw(), i);
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  auto s = t == DType::f64 ? fmt::format("{}", v) : fmt::format("{}", static_cast<float>(v));
  if (s.ends_with(".0")) s.pop_back();
  return s.find_first_of(".e") == std::string::npos ? s + "." : s;
}

void block(const ir::Literal& l, const Extents& extents, std::size_t axis, std::int64_t first, bool cut, std::string& out) {
  if (axis == extents.size()) {
    out += element(l, first);
    return;
  }
  std::int64_t stride = 1;
  for (std::size_t d = axis + 1; d < extents.size(); ++d) stride *= extents[d];
  const bool last = axis + 1 == extents.size();
  const std::string between = last ? " " : std::string(extents.size() - axis - 1, '\n') + std::string(axis + 1, ' ');
  out += "[";
  for (std::int64_t i = 0; i < extents[axis]; ++i) {
    if (i > 0) out += between;
    if (cut && extents[axis] > 2 * edge && i == edge) {
      out += "...";
      i = extents[axis] - edge - 1;
      continue;
    }
    block(l, extents, axis + 1, first + i * stride, cut, out);
  }
  out += "]";
}

}  // namespace

std::string show(const ir::Literal& l) {
  std::string out;
  if (l.elements() == 0) return "[]";
  block(l, l.extents(), 0, 0, l.elements() > whole, out);
  return out;
}

}  // namespace plumb::tools

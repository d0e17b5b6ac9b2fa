#include "fuzz/subjects.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "ir/scalar/storage.h"
#include "ir/support/index_space.h"
#include "ir/tensor/text.h"
#include "verify/oracle.h"

namespace plumb::fuzz {
namespace {

/// Rows of results: fewer where each is long.
std::int64_t rows_for(std::int64_t k) { return k <= 1024 ? 4 : k <= 65536 ? 2 : 1; }

struct Text {
  std::string text;
  std::vector<Subject::Pairing> pairings;
};

Text rowwise(const std::string& op, const std::string& t, std::int64_t rows, std::int64_t k, const std::string& attrs, bool keeps) {
  const auto in = fmt::format("{}[{},{}]", t, rows, k), out = keeps ? in : fmt::format("{}[{}]", t, rows);
  return {fmt::format("func @main(%x: {}) -> ({}) {{\n  %0 = {}(%x) {{{}}} : {}\n  return %0\n}}", in, out, op, attrs, out), {{1, -1}}};
}
Text dot(const std::string& t, std::int64_t m, std::int64_t k, std::int64_t n) {
  return {fmt::format("func @main(%x: {0}[{1},{2}], %w: {0}[{2},{3}]) -> ({0}[{1},{3}]) {{\n  %0 = dot_general(%x, %w) {{lhs_contract=[1], rhs_contract=[0]}} : {0}[{1},{3}]\n  return %0\n}}", t, m, k, n), {{1, 1}, {0, -1}}};
}
/// Four channels, a window of k / 4, four positions, two output channels.
Text convolution(const std::string& t, std::int64_t k) {
  const auto window = k / 4;
  return {fmt::format("func @main(%x: {0}[1,4,{1}], %w: {0}[2,4,{2}]) -> ({0}[1,2,4]) {{\n  %0 = convolution(%x, %w) : {0}[1,2,4]\n  return %0\n}}", t, window + 3, window), {{1, 1}, {1, -1}}};
}
Text layer_norm(const std::string& t, std::int64_t rows, std::int64_t k) {
  return {fmt::format("func @main(%x: {0}[{1},{2}], %g: {0}[{2}], %b: {0}[{2}]) -> ({0}[{1},{2}]) {{\n  %0 = layer_norm(%x, %g, %b) {{axis=1, epsilon=1e-05}} : {0}[{1},{2}]\n  return %0\n}}", t, rows, k), {{1, -1}, {}, {}}};
}
/// One query a row over k keys of four numbers: scores, softmax, the weighted sum of values.
Text attention(const std::string& t, std::int64_t rows, std::int64_t k) {
  return {fmt::format(R"(func @main(%q: {0}[{1},4], %k: {0}[{2},4], %v: {0}[{2},4]) -> ({0}[{1},4]) {{
  %s = dot_general(%q, %k) {{lhs_contract=[1], rhs_contract=[1]}} : {0}[{1},{2}]
  %p = softmax(%s) {{axis=1}} : {0}[{1},{2}]
  %o = dot_general(%p, %v) {{lhs_contract=[1], rhs_contract=[0]}} : {0}[{1},4]
  return %o
}})", t, rows, k), {{}, {0, 1}, {0, -1}}};
}

Text text_of(std::string_view op, const std::string& t, std::int64_t k) {
  const auto rows = rows_for(k);
  if (op == "dot") return dot(t, rows, k, 3);
  if (op == "gemm") return dot(t, 8, k, 16);
  if (op == "convolution") return convolution(t, k);
  if (op == "softmax") return rowwise("softmax", t, rows, k, "axis=1", true);
  if (op == "layer_norm") return layer_norm(t, rows, k);
  if (op == "attention") return attention(t, rows, k);
  return rowwise("reduce_" + std::string(op), t, rows, k, "axes=[1]", false);
}

double unit(std::uint64_t word) { return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53; }
double normal(std::uint64_t a, std::uint64_t b) { return std::sqrt(-2 * std::log(unit(a))) * std::cos(2 * std::numbers::pi * unit(b)); }

double value(const Subject& s, DataKind kind, std::uint64_t a, std::uint64_t b) {
  if (s.op == "prod") {
    const bool one = unit(b) * static_cast<double>(s.k) > 64;
    const double size = one ? 1 : kind == DataKind::integers || kind == DataKind::cancelling ? (a % 2 ? 2 : 0.5) : 0.5 + 1.5 * unit(a);
    return kind != DataKind::uniform && (a >> 7) % 2 ? -size : size;
  }
  switch (kind) {
    case DataKind::uniform: return unit(a);
    case DataKind::integers: return static_cast<double>(a % 7) - 3;
    default: return normal(a, b);
  }
}

}  // namespace

Subject make_subject(std::string_view op, DType dtype, std::int64_t k, bool tail) {
  const auto size = !tail ? k : op == "convolution" ? k - 4 : k - 3;
  auto t = text_of(op, std::string(name(dtype)), size);
  return {std::string(op), dtype, k, ir::parse(t.text, "subject.plumb"), std::move(t.pairings)};
}

std::vector<ir::Literal> make_data(const Subject& s, DataKind kind, std::uint64_t seed) {
  std::vector<ir::Literal> r;
  const auto& f = s.module.entry();
  for (std::size_t p = 0; p < f.params.size(); ++p) {
    ir::Literal l(f.type(f.params[p]));
    const auto extents = l.extents();
    const auto pair = kind == DataKind::cancelling && s.op != "prod" ? s.pairings[p] : Subject::Pairing{};
    const auto strides = row_major_strides(extents);
    for (std::int64_t i = 0; i < l.elements(); ++i) {
      std::int64_t from = i;
      double sign = 1;
      if (pair.axis >= 0) {
        const auto d = static_cast<std::size_t>(pair.axis);
        const auto n = extents[d], at = i / strides[d] % n;
        if (at >= (n + 1) / 2) from = i + (n - 1 - 2 * at) * strides[d], sign = pair.sign;
      }
      const auto word = static_cast<std::uint64_t>(from);
      const auto here = seed * 64 + p;
      store_element(l.dtype(), l.mutable_raw(), i, sign * value(s, kind, verify::random_word(here, 2 * word), verify::random_word(here, 2 * word + 1)));
    }
    r.push_back(std::move(l));
  }
  return r;
}

}  // namespace plumb::fuzz

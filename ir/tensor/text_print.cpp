#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/scalar/storage.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

std::string real(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  return {buffer, end};
}

std::string element(const Literal& l, std::int64_t i) {
  const DType t = l.dtype();
  if (is_bool(t)) return l.int_at(i) ? "true" : "false";
  if (t == DType::u64) return std::to_string(static_cast<std::uint64_t>(l.int_at(i)));
  if (is_integer(t)) return std::to_string(l.int_at(i));
  if (t == DType::f32) {
    const float v = l.data<float>()[i];
    if (std::isfinite(v)) {
      char buffer[40];
      return {buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr};
    }
  }
  return real(load_element(t, l.raw(), i));
}

bool same_bytes(const Literal& l, std::int64_t i, std::int64_t j) {
  const auto n = static_cast<std::size_t>(byte_size(l.dtype()));
  const auto* p = static_cast<const char*>(l.raw());
  return std::memcmp(p + static_cast<std::size_t>(i) * n, p + static_cast<std::size_t>(j) * n, n) == 0;
}

/// A NaN that the word "nan" would not bring back, or a bool that is neither 0 nor 1.
bool needs_bytes(const Literal& l) {
  const auto n = static_cast<std::size_t>(byte_size(l.dtype()));
  for (std::int64_t i = 0; i < l.elements(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(l.raw()) + static_cast<std::size_t>(i) * n, n);
    if (is_bool(l.dtype()) && bits > 1) return true;
    if (is_float(l.dtype()) && std::isnan(decode_float(l.dtype(), bits)) && encode_float(l.dtype(), std::nan("")) != bits) return true;
  }
  return false;
}

std::string print_attr(const AttrValue& v) {
  struct Visitor {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return real(d); }
    std::string operator()(const std::string& s) const { return "@" + s; }
    std::string operator()(const Ints& xs) const {
      std::string s = "[";
      for (std::size_t i = 0; i < xs.size(); ++i) s += (i ? "," : "") + std::to_string(xs[i]);
      return s + "]";
    }
    std::string operator()(const Shape& s) const { return str(s); }
    std::string operator()(DType t) const { return std::string(name(t)); }
    std::string operator()(const Literal& l) const { return print_literal(l); }
  };
  return std::visit(Visitor{}, v);
}

}  // namespace

std::string print_literal(const Literal& l) {
  const std::int64_t n = l.elements();
  constexpr std::int64_t longest = 64;
  std::int64_t same = 1;
  while (same < n && same_bytes(l, 0, same)) ++same;
  const bool splat = n > 1 && same == n;
  if (n > 0 && (needs_bytes(l) || (n > longest && !splat))) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string s = "hex\"";
    const auto* p = static_cast<const unsigned char*>(l.raw());
    for (std::int64_t i = 0; i < l.bytes(); ++i) s += digits[p[i] >> 4], s += digits[p[i] & 15];
    return s + "\"";
  }
  if (splat) return "splat " + element(l, 0);
  if (l.type().rank() == 0) return element(l, 0);
  std::string s = "[";
  for (std::int64_t i = 0; i < n; ++i) s += (i ? ", " : "") + element(l, i);
  return s + "]";
}

std::string print_node(const Function& f, const Node& n) {
  std::string s = std::string(row(n.op).name) + "(";
  for (std::size_t i = 0; i < n.operands.size(); ++i) s += (i ? ", %" : "%") + f.value(n.operands[i]).name;
  s += ")";
  AttrMap defaults;
  std::string attrs;
  for (const auto& spec : attr_specs(n.op)) {
    const auto* v = n.attrs.find(spec.name);
    if (!v) continue;
    if (!spec.fallback.empty()) {  // what equals its default is left out
      AttrMap one = n.attrs;
      AttrMap without;
      for (const auto& [key, value] : n.attrs.entries())
        if (key != spec.name) without.set(key, value);
      if (!complete_attrs(n.op, without) && *without.find(spec.name) == *v) continue;
    }
    attrs += (attrs.empty() ? "" : ", ") + std::string(spec.name) + "=" + print_attr(*v);
  }
  return attrs.empty() ? s : s + " {" + attrs + "}";
}

std::string print(const Function& f) {
  std::string s = "func @" + f.name + "(";
  for (std::size_t i = 0; i < f.params.size(); ++i) s += (i ? ", %" : "%") + f.value(f.params[i]).name + ": " + f.type(f.params[i]).str();
  s += ") -> (";
  for (std::size_t i = 0; i < f.results.size(); ++i) s += (i ? ", " : "") + f.type(f.results[i]).str();
  s += ") {\n";
  for (const auto& n : f.nodes) {
    s += "  ";
    for (std::size_t i = 0; i < n.results.size(); ++i) s += (i ? ", %" : "%") + f.value(n.results[i]).name;
    s += " = " + print_node(f, n) + " : ";
    for (std::size_t i = 0; i < n.results.size(); ++i) s += (i ? ", " : "") + f.type(n.results[i]).str();
    s += "\n";
  }
  s += "  return";
  for (std::size_t i = 0; i < f.results.size(); ++i) s += (i ? ", %" : " %") + f.value(f.results[i]).name;
  return s + "\n}\n";
}

std::string print(const Module& m) {
  std::string s;
  for (const auto& f : m.functions) s += (s.empty() ? "" : "\n") + print(f);
  return s;
}

}  // namespace plumb::ir

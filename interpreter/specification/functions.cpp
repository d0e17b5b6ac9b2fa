// The chapter on scalar functions, and the table of dtypes.
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "interpreter/specification/embedded.h"
#include "interpreter/specification/markdown.h"
#include "interpreter/specification/sections.h"
#include "ir/scalar/functions.h"
#include "ir/tensor/complex_functions.h"
#include "ir/tensor/op_table.h"

namespace plumb::spec {
namespace {

std::string decimal(double v, int digits) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, v, std::chars_format::general, digits).ptr};
}

constexpr std::array takes_words{"every real dtype but bool", "floats", "integers", "integers and bool", "every real dtype", "bool"};

/// Largest errors of f32 found on the cpu target under relaxed, from the results of `plumb prove --functions`.
struct Measured { std::string function, dtype, worst, at, inputs; };
std::vector<Measured> measured() {
  std::vector<Measured> r;
  for (const auto& f : embedded_files()) {
    if (f.path != "bench/results/functions.json") continue;
    const auto file = nlohmann::json::parse(f.text);
    for (const auto& j : file.at("functions")) {
      if (j.at("contract") != "relaxed" || j.at("dtype") != "f32") continue;
      const auto inputs = std::to_string(j.at("inputs").get<std::int64_t>());
      r.push_back({j.at("function"), j.at("dtype"), decimal(j.at("worst_ulp").get<double>(), 4), j.at("worst_at"), j.at("exhaustive").get<bool>() ? "all " + inputs : inputs + " of them"});
    }
  }
  return r;
}

std::string accuracy(const FnRow& f, const std::vector<Measured>& all) {
  if (f.ulp == 0.5) return "Accuracy: correctly rounded on every target under every contract.\n\n";
  std::string s = "Accuracy: correctly rounded under strict; under relaxed within " + decimal(f.ulp, 3) + " ULP, on every target.";
  for (const auto& m : all)
    if (m.function == f.name) s += " Measured on `cpu` under relaxed: " + m.worst + " ULP in " + m.dtype + ", at " + m.at + " (arguments tried: " + m.inputs + ").";
  return s + "\n\n";
}

std::string section(FnId fn, const std::vector<Measured>& all) {
  const auto& f = row(fn);
  std::string s = "#### " + std::string(f.name) + "\n\n" + code(std::string(f.name) + "(" + std::string(f.arguments()) + ")") + ": " + std::string(f.doc) + "\n\n";
  const bool complex = ir::takes_complex(fn);
  s += "Takes " + std::string(takes_words[static_cast<std::size_t>(f.takes)]) + (complex ? ", and " + link("complex numbers", "complex-numbers") : "");
  s += "; gives " + std::string(f.gives == Gives::boolean ? "bool" : "the same dtype") + (complex && ir::complex_result_dtype(fn, DType::c64) == DType::f32 ? ", for complex numbers that of their parts" : "") + ".\n\n";
  s += accuracy(f, all);
  const auto op = ir::find_op(f.name);
  if (!op) return s;
  const auto label = [&](const char* c) { return code(std::string(f.name) + "_" + c); };
  s += "Constraints of the operation: " + (f.arity > 1 ? label("c1") + ", " : "") + label("c2") + ", as of " + link("all elementwise operations", "elementwise-operations") + ".\n\n";
  s += edges_of(f.name);
  s += "Derivative: " + derivative_of(fn) + "\n\n";
  if (const auto k = ir::row(*op).kink; !k.empty()) s += "Kink: " + std::string(k) + ".\n\n";
  return s + examples_of(f.name);
}

/// 2^e, and its decimal.
std::string power(int e) { return "2^" + std::to_string(e); }

}  // namespace

std::string functions() {
  const auto all = measured();
  std::string s;
  for (std::size_t f = 0; f < AllFns::rows.size(); ++f) s += section(static_cast<FnId>(f), all);
  return s;
}

std::string dtypes() {
  std::vector<Cells> floats, others;
  for (const auto& r : dtype_rows) {
    const auto bytes = std::to_string(r.bytes);
    if (r.kind != Kind::floating) {
      const auto bits = std::to_string(r.precision);
      const auto range = r.kind == Kind::complex ? "pairs of " + code(plumb::name(part_dtype(r.dtype))) : r.kind == Kind::boolean ? std::string("false, true") : r.kind == Kind::signed_integer ? "-2^" + bits + " to 2^" + bits + " - 1" : "0 to 2^" + bits + " - 1";
      others.push_back({code(r.name), bytes, range});
      continue;
    }
    // f8e4m3fn gives its topmost pattern to NaN, so that its greatest number ends in 0.
    const double greatest = std::ldexp(2 - std::ldexp(r.has_inf ? 1.0 : 2.0, 1 - r.precision), r.emax);
    floats.push_back({code(r.name), bytes, std::to_string(r.precision), decimal(greatest, 5), power(r.emin), power(r.emin - r.precision + 1), r.has_inf ? "yes" : "no"});
  }
  return table({"Float", "Bytes", "Significand bits", "Greatest", "Least normal", "Least subnormal", "Infinities"}, floats) + table({"Other", "Bytes", "Values"}, others);
}

}  // namespace plumb::spec

// The chapter on operations: one section a record.
#include <algorithm>
#include <array>

#include "interpreter/specification/embedded.h"
#include "interpreter/specification/examples.h"
#include "interpreter/specification/markdown.h"
#include "interpreter/specification/sections.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::spec {
namespace {

using ir::OpClass, ir::OpCode;

/// Families in the order of the document. families.md has the text of each under its key.
struct Family { OpClass op_class; std::string_view key, title; };
constexpr std::array families{
    Family{OpClass::elementwise, "elementwise", "Elementwise operations"},
    Family{OpClass::convert, "convert", "Conversion"},
    Family{OpClass::select, "select", "Selection"},
    Family{OpClass::source, "source", "Sources"},
    Family{OpClass::view, "view", "Views"},
    Family{OpClass::gather, "gather", "Lookups by index"},
    Family{OpClass::scatter, "scatter", "Updates by index"},
    Family{OpClass::reduce, "reduce", "Reductions"},
    Family{OpClass::arg_reduce, "arg_reduce", "Places of extremes"},
    Family{OpClass::window, "window", "Windows"},
    Family{OpClass::scan, "scan", "Scans"},
    Family{OpClass::sort, "sort", "Sorting"},
    Family{OpClass::contract, "contract", "Contractions"},
    Family{OpClass::control, "control", "Control flow"},
    Family{OpClass::composite, "composite", "Composites"},
    Family{OpClass::complex, "complex", "Parts of complex numbers"},
    Family{OpClass::library, "library", "Matrix factorisations"},
};
const Family* family_of(OpCode op) {
  const auto it = std::ranges::find(families, ir::row(op).op_class, &Family::op_class);
  return it == families.end() ? nullptr : &*it;
}

/// The paragraphs of families.md under "# key".
std::string intro(std::string_view key) {
  std::string r;
  bool inside = false;
  for (const auto& line : lines_of(embedded("interpreter/specification/families.md"))) {
    if (line.starts_with("# ")) inside = line.substr(2) == key;
    else if (inside) r += line + "\n";
  }
  return r;
}

std::vector<std::string> operand_names(OpCode op) {
  std::vector<std::string> names;
  std::string name;
  for (char c : ir::row(op).operands) {
    if (c == ',') names.push_back(std::exchange(name, ""));
    else if (c != ' ') name += c;
  }
  if (!name.empty()) names.push_back(name);
  return names;
}

constexpr std::array kind_names{"true or false", "integer", "real number", "name", "integers", "real numbers", "shape", "dtype", "literal"};

/// With as many results as the use has; those of if, while and scan are as many as their functions give.
std::string signature(OpCode op, const std::optional<Examples::Use>& use) {
  const bool any_number = ir::row(op).op_class == ir::OpClass::control && operand_names(op).back().ends_with("...");
  const auto count = use ? use->node->results.size() : 1;
  std::vector<std::string> operands, attrs, results, types;
  for (std::size_t k = 0; k < (any_number ? 1 : count); ++k) results.push_back(any_number || count == 1 ? "%r" : "%r" + std::to_string(k)), types.push_back("type");
  if (any_number) results.push_back("…"), types.push_back("…");
  for (const auto& n : operand_names(op)) operands.push_back("%" + n);
  for (const auto& a : ir::attr_specs(op)) attrs.push_back(std::string(a.name) + "=…");
  return join(results, ", ") + " = " + std::string(ir::row(op).name) + "(" + join(operands, ", ") + ")" + (attrs.empty() ? "" : " {" + join(attrs, ", ") + "}") + " : " + join(types, ", ") + "\n";
}

std::string attributes(OpCode op) {
  std::vector<Cells> rows;
  for (const auto& a : ir::attr_specs(op)) {
    const auto fallback = !a.fallback.empty() ? code(a.fallback) : a.name == "shape" || a.name == "dtype" ? "the result's" : "none: must be given";
    rows.push_back({code(a.name), kind_names[static_cast<std::size_t>(a.kind)], fallback});
  }
  return table({"Attribute", "Kind", "Default"}, rows);
}

/// The use's result types when each operand of the first one's dtype gets another.
ir::Inferred retyped(const Examples::Use& use, DType dtype) {
  std::vector<ir::Type> in;
  for (auto v : use.node->operands) in.push_back(use.function->type(v));
  const DType first = in.empty() ? dtype : in[0].dtype;
  for (auto& t : in)
    if (t.dtype == first) t.dtype = dtype;
  return ir::infer(use.node->op, in, use.node->attrs);
}
bool gives_a_number(const ir::Inferred& results) {
  const auto* types = std::get_if<std::vector<ir::Type>>(&results);
  return types && std::ranges::any_of(*types, [](const ir::Type& t) { return is_float(t.dtype) || is_complex(t.dtype); });
}

/// The dtypes that the first operand may have: those for which the operation is valid when each operand of that dtype gets
/// another. Asked of the record itself, by way of the example.
std::string dtypes_taken(const Examples::Use& use) {
  const auto& n = *use.node;
  if (n.operands.empty()) return {};
  std::vector<std::string> taken, refused;
  for (const auto& r : dtype_rows) {
    (std::holds_alternative<std::string>(retyped(use, r.dtype)) ? refused : taken).emplace_back(r.name);
  }
  if (refused.empty()) return "every dtype";
  if (refused.size() <= taken.size()) return "every dtype but " + join(refused, ", ");
  return join(taken, ", ");
}

/// The decomposition of the example's use, really made, so that it is never stale.
std::string decomposition(const Examples::Use& use) {
  ir::Function body;
  body.name = std::string(ir::name(*use.node));
  ir::Builder b(body);
  std::vector<ir::ValueId> in;
  const auto names = operand_names(use.node->op);
  for (std::size_t k = 0; k < use.node->operands.size(); ++k) in.push_back(b.param(use.function->type(use.node->operands[k]), names[std::min(k, names.size() - 1)]));
  b.results(ir::decompose(use.node->op, b, in, use.node->attrs));
  const auto attrs = ir::print_attributes(*use.function, *use.node);
  return "Decomposition of the example" + (attrs.empty() ? "" : ", " + code(attrs.substr(1))) + ":\n\n" + fenced(ir::print(body));
}

/// The record's own words; a composite without any has the derivative of what it decomposes to. A primitive without any has none
/// where no float becomes one, else none is defined.
std::string derivative(OpCode op, const std::optional<Examples::Use>& use) {
  if (const auto d = ir::derivative(op); !d.empty()) return "Derivative: " + std::string(d) + "\n\n";
  if (!use) return {};
  const bool differs = std::ranges::any_of(dtype_rows, [&](const auto& r) { return (is_float(r.dtype) || is_complex(r.dtype)) && gives_a_number(retyped(*use, r.dtype)); });
  if (!differs) return "Derivative: none: no real operand reaches a real result.\n\n";
  return ir::is_composite(op) ? "Derivative: that of its decomposition.\n\n" : "Derivative: none is defined in this version.\n\n";
}

std::string section(OpCode op) {
  const auto& r = ir::row(op);
  const Examples tests(r.name);
  const auto use = tests.use();
  std::string s = "#### " + std::string(r.name) + "\n\n" + std::string(r.doc) + "\n\n" + fenced(signature(op, use));
  if (const auto taken = use ? dtypes_taken(*use) : std::string(); !taken.empty()) s += "Takes, as " + code(operand_names(op)[0]) + ": " + taken + ".\n\n";
  s += attributes(op);
  if (const auto e = ir::equation(op); !e.empty()) s += "Meaning:\n\n" + fenced(e);
  s += constraints_of(r.name) + edges_of(r.name);
  if (const auto why = ir::no_edges(op); !why.empty()) s += "No edges: " + std::string(why) + "\n\n";
  s += derivative(op, use);
  if (!r.kink.empty()) s += "Kink: " + std::string(r.kink) + ".\n\n";
  if (ir::is_composite(op) && use) s += decomposition(*use);
  return s + examples_of(r.name);
}

/// Elementwise operations have their sections among the scalar functions.
std::string elementwise_list(const std::vector<OpCode>& ops) {
  std::vector<std::string> names;
  for (auto op : ops) names.push_back(link(ir::row(op).name, ir::row(op).name));
  return join(names, ", ") + ".\n\n";
}

std::string chapter(std::string_view key, std::string_view title, const std::vector<OpCode>& ops) {
  if (ops.empty()) return {};
  std::string s = "### " + std::string(title) + "\n\n" + intro(key);
  if (key == "elementwise") return s + elementwise_list(ops);
  for (auto op : ops) s += section(op);
  return s;
}

}  // namespace

std::string operations() {
  std::string s;
  const auto in_family = [](const Family* f) {
    std::vector<OpCode> ops;
    for (std::size_t op = 0; op < ir::op_count(); ++op)
      if (family_of(static_cast<OpCode>(op)) == f) ops.push_back(static_cast<OpCode>(op));
    return ops;
  };
  for (const auto& f : families) s += chapter(f.key, f.title, in_family(&f));
  return s + chapter("other", "Other operations", in_family(nullptr));
}

}  // namespace plumb::spec

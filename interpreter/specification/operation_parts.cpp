// Constraints, edges and examples of one operation.
#include "interpreter/specification/examples.h"
#include "interpreter/specification/markdown.h"
#include "interpreter/specification/sections.h"
#include "ir/tensor/op_table.h"

namespace plumb::spec {
namespace {
/// C4 of dot_general: dot_general_c4.
std::string label_of(std::string_view op, std::string_view label) {
  return std::string(op) + "_" + slug(label);
}
}  // namespace

std::string constraints_of(std::string_view op) {
  std::string r;
  for (const auto& c : ir::constraints(ir::op(op))) {
    const auto label = label_of(op, c.label);
    r += "- " + anchor(label) + "**" + std::string(c.label) + "** " + std::string(c.text) + " " + code(label) + "\n";
  }
  return r.empty() ? r : "Constraints:\n\n" + r + "\n";
}

std::string edges_of(std::string_view op) {
  std::vector<Cells> rows;
  for (const auto& e : ir::edges(ir::op(op)))
    rows.push_back({anchor(label_of(op, e.label)) + std::string(e.label), std::string(e.when), std::string(e.result), std::string(e.others)});
  return table({"", "Edge", "Result", "Others"}, rows);
}

std::string examples_of(std::string_view op) {
  const Examples tests(op);
  const auto* basic = tests.basic();
  std::string r = basic ? "Example:\n\n" + fenced(basic->str()) : "", more;
  for (const auto& e : ir::edges(ir::op(op)))
    if (const auto* x = tests.find(label_of(op, e.label)); x && x != basic) more += x->str();
  if (!more.empty()) r += "<details><summary>The edges as programs</summary>\n\n" + fenced(more) + "</details>\n\n";
  return r;
}

}  // namespace plumb::spec

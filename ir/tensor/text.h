// The text form of the tensor IR: one SSA value a line, fully typed. parse and print are inverse.
#pragma once
#include <string>
#include <string_view>

#include "ir/tensor/graph.h"

namespace plumb::ir {

std::string print(const Module& module);
std::string print(const Function& function);
/// One operation without its results: `dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]}`.
std::string print_node(const Function& function, const Node& node);
std::string print_literal(const Literal& literal);

/// Bad input on any fault, with file:line:column, the line and a caret. The result is verified.
Module parse(std::string_view text, std::string_view file);

/// Types re-inferred, definitions before uses, names unique, functions named by control flow present with right
/// signatures and without recursion. Bad input on the first fault.
void verify(const Module& module);

}  // namespace plumb::ir

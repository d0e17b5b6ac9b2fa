// The text form of the tensor IR: one SSA value a line, fully typed; printing and parsing are inverse.
//
//   module    := function*
//   function  := "func" @name "(" [%name ":" type {"," …}] ")" "->" "(" [type {"," …}] ")" "{" node* "return" [%name {"," …}] "}"
//   node      := [%name {"," %name} "="] operation "(" [%name {"," …}] ")" ["{" [attribute {"," …}] "}"] [":" type {"," type}]
//   type      := dtype "[" [dim {"," dim}] "]"                     dim := size | Symbol
//   attribute := name "=" value, by the operation's record: true, 3, 1e-05, [0, 1] (ints), [2,B] (shape), f32 (dtype),
//                @function, word or "text", literal
//   literal   := [type] (element | "[" … "]", flat or nested to the rank | "splat" element | ["splat"] hex"bytes in memory order")
//
// Left out when printing: an attribute equal to its default, and `shape` and `dtype` equal to the result's. A literal that is
// constant's needs no type. Decimals of f16, bf16 and f8 round to f64 first. `nan` is the dtype's canonical NaN; literals
// that hold another one print as hex. Comments: '#' or '//' to the end of the line.
#pragma once
#include <string>
#include <string_view>

#include "ir/tensor/graph.h"
#include "ir/tensor/verifier.h"

namespace plumb::ir {

/// Bad input with file:line:column, the line and a caret; `file` is only named in messages. Types are checked against
/// inference, and calls against the functions called.
Module parse(std::string_view text, std::string_view file = "<text>");
Module parse_file(const std::string& path);
/// A type alone, as `f32[2,B]`.
Type parse_type(std::string_view text);

std::string print(const Module& module);
/// Names stay as they are where they are unique; others get a number at the end.
std::string print(const Function& function);
/// One operation without its results: `dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]}`.
std::string print_node(const Function& function, const Node& node);
/// Its attributes alone, with a space before them: ` {lhs_contract=[1], rhs_contract=[0]}`; nothing where all are defaults.
std::string print_attributes(const Function& function, const Node& node);
/// The elements, as they stand where the type is known.
std::string print_literal(const Literal& literal);

}  // namespace plumb::ir

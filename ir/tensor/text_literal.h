// Elements of literals as text, shared by the two directions.
#pragma once
#include <cstdint>
#include <string>

#include "ir/tensor/lexer.h"
#include "ir/tensor/literal.h"

namespace plumb::ir {

/// A splat makes much memory from little text, so a text may hold this many bytes of them; beyond, literals are written in full.
inline constexpr std::int64_t splat_budget = std::int64_t{64} << 20;

/// The shortest decimal that reads back as the same double.
std::string shortest(double value);
/// The element's digits, without its type; a complex element is "(real, imaginary)".
std::string print_element(DType dtype, const void* base, std::int64_t i);
/// The value alone, as it stands after a known type; `splats_left` falls by what a splat stands for.
std::string print_elements(const Literal& literal, std::int64_t& splats_left);

/// A real as attributes and float elements have it.
double parse_real(Lexer& lex);
std::int64_t parse_integer(Lexer& lex, std::string_view what);
/// The value after a known type. Memory follows the text's length, splats aside.
Literal parse_elements(Lexer& lex, const Type& type, std::int64_t& splats_left);

}  // namespace plumb::ir

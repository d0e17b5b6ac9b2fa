#include <algorithm>

#include "ir/tensor/op_table.h"
#include "ir/tensor/text_parse.h"

namespace plumb::ir {
namespace {

/// Symbols are interned for the life of the process, and a model has a handful.
constexpr std::size_t most_symbols = 256;

std::string names_of(std::span<const AttrSpec> specs) {
  if (specs.empty()) return "it has none";
  std::string s = "it has ";
  for (std::size_t i = 0; i < specs.size(); ++i) s += (i ? ", " : "") + std::string(specs[i].name);
  return s;
}

}  // namespace

void Parser::attributes(NodeText& n) {
  if (!lex_.accept("{")) return;
  if (lex_.accept("}")) return;
  const auto specs = attr_specs(n.node.op);
  std::vector<std::string_view> seen;
  do {
    const Token name = lex_.expect(TokenKind::identifier, "an attribute's name");
    const auto spec = std::ranges::find(specs, name.text, &AttrSpec::name);
    if (spec == specs.end()) lex_.fail(name, std::string(n.op.text) + " has no attribute " + describe(name) + "; " + names_of(specs));
    if (std::ranges::count(seen, name.text)) lex_.fail(name, "the attribute " + describe(name) + " is given twice");
    seen.push_back(name.text);
    lex_.expect("=", "and the attribute's value");
    if (spec->kind == AttrKind::literal) defer(n, spec->name);
    else n.node.attrs.set(spec->name, attribute(*spec));
  } while (lex_.accept(","));
  lex_.expect("}", "or ',' after an attribute");
}

AttrValue Parser::attribute(const AttrSpec& spec) {
  switch (spec.kind) {
    case AttrKind::boolean:
      if (lex_.accept_word("true")) return true;
      if (lex_.accept_word("false")) return false;
      lex_.fail_expected("true or false");
    case AttrKind::integer: return parse_integer(lex_, "an integer");
    case AttrKind::real: return parse_real(lex_);
    case AttrKind::text: return text_value();
    case AttrKind::ints: return ints();
    case AttrKind::reals: return reals();
    case AttrKind::shape: return shape();
    case AttrKind::dtype: {
      const Token t = lex_.expect(TokenKind::identifier, "a dtype");
      if (const auto d = dtype_from_name(t.text)) return *d;
      lex_.fail(t, "there is no dtype " + describe(t));
    }
    case AttrKind::literal: break;
  }
  fail_internal("a literal attribute is read once its type is known");
}

std::string Parser::text_value() {
  const auto kind = lex_.peek().kind;
  if (kind != TokenKind::function && kind != TokenKind::identifier && kind != TokenKind::string) lex_.fail_expected("@function, a word or a string");
  return lex_.next().name();
}

Ints Parser::ints() {
  Ints values;
  lex_.expect("[", "before a list of integers");
  if (lex_.accept("]")) return values;
  do values.push_back(parse_integer(lex_, "an integer"));
  while (lex_.accept(","));
  lex_.expect("]", "or ',' after an integer");
  return values;
}

Reals Parser::reals() {
  Reals values;
  lex_.expect("[", "before a list of numbers");
  if (lex_.accept("]")) return values;
  do values.push_back(parse_real(lex_));
  while (lex_.accept(","));
  lex_.expect("]", "or ',' after a number");
  return values;
}

void Parser::defer(NodeText& n, std::string_view name) {
  const auto start = lex_.mark();
  for (int depth = 0;;) {
    const Token& t = lex_.peek();
    if (t.kind == TokenKind::end) lex_.fail(start.token, "the literal that starts here does not end");
    if (t.is("[") || t.is("(")) ++depth;
    if (t.is("]") || t.is(")")) --depth;
    if (depth <= 0 && (t.is(",") || t.is("}") || t.is(":"))) break;
    lex_.next();
  }
  n.deferred.push_back({name, start, lex_.peek().offset});
}

void Parser::read_deferred(NodeText& n) {
  for (const auto& d : n.deferred) {
    lex_.rewind(d.start);
    const Token first = lex_.peek();
    const bool typed = first.kind == TokenKind::identifier && dtype_from_name(first.text);
    if (!typed && n.given.empty()) lex_.fail(first, "a literal here needs its type before it, as in f32[2] [1, 2]");
    const Type t = typed ? type() : n.given.front();
    n.node.attrs.set(d.name, parse_elements(lex_, t, splats_left_));
    if (lex_.peek().offset != d.end) lex_.fail_expected("the end of the literal");
  }
}

/// What the type after ':' already says need not stand among the attributes.
void Parser::fill_from_result(NodeText& n) const {
  if (n.given.empty()) return;
  for (const auto& spec : attr_specs(n.node.op)) {
    if (!spec.fallback.empty() || n.node.attrs.find(spec.name)) continue;
    if (spec.kind == AttrKind::shape && spec.name == "shape") n.node.attrs.set(spec.name, n.given.front().shape);
    if (spec.kind == AttrKind::dtype && spec.name == "dtype") n.node.attrs.set(spec.name, n.given.front().dtype);
  }
}

Type Parser::type() {
  const Token t = lex_.expect(TokenKind::identifier, "a type, as in f32[2,3]");
  const auto dtype = dtype_from_name(t.text);
  if (!dtype) lex_.fail(t, "there is no dtype " + describe(t));
  if (!lex_.peek().is("[")) lex_.fail_expected("'[' and the dimensions; a scalar is " + std::string(t.text) + "[]");
  const Type type{*dtype, shape()};
  // Symbols aside, the bytes must be countable.
  Type sizes{*dtype, {}};
  for (const auto& d : type.shape)
    if (!d.is_symbol()) sizes.shape.push_back(d);
  try {
    sizes.bytes();
  } catch (const Error& e) {
    lex_.fail(t, type.str() + ": " + e.what());
  }
  return type;
}

Shape Parser::shape() {
  Shape s;
  lex_.expect("[", "before the dimensions");
  if (lex_.accept("]")) return s;
  do {
    if (s.size() == max_rank) lex_.fail(lex_.peek(), "rank above " + std::to_string(max_rank) + " is not supported");
    s.push_back(dim());
  } while (lex_.accept(","));
  lex_.expect("]", "or ',' after a dimension");
  return s;
}

Dim Parser::dim() {
  const Token t = lex_.peek();
  if (t.kind != TokenKind::identifier) {
    const auto size = parse_integer(lex_, "a dimension: a size or a symbol");
    if (size < 0) lex_.fail(t, "a dimension cannot be negative");
    return size;
  }
  lex_.next();
  if (const auto it = symbols_.find(t.text); it != symbols_.end()) return it->second;
  if (symbols_.size() == most_symbols) lex_.fail(t, "more than " + std::to_string(most_symbols) + " symbols in one text");
  return symbols_.emplace(std::string(t.text), Dim::named(t.text)).first->second;
}

}  // namespace plumb::ir

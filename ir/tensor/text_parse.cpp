#include "ir/tensor/text_parse.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unordered_set>

#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "ir/tensor/verifier.h"

namespace plumb::ir {
namespace {

/// Edits (insert, drop, replace, swap neighbours) from one word to another, doubled; words of one length are a little nearer.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), d[i - 1][j] + 1, d[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return 2 * d[a.size()][b.size()] + (a.size() != b.size());
}

std::string suggest_op(std::string_view word) {
  if (word.size() > 40) return "";
  std::string_view best;
  std::size_t least = 2 * (word.size() / 3 + 1) + 2;
  for (std::size_t op = 0; op < op_count(); ++op) {
    const auto candidate = row(static_cast<OpCode>(op)).name;
    if (const auto d = distance(word, candidate); d < least) {
      least = d;
      best = candidate;
    }
  }
  return best.empty() ? "" : "; did you mean '" + std::string(best) + "'?";
}

/// Types for a message; a thousand of them would bury it.
std::string list(const std::vector<Type>& types, std::string_view none) {
  std::string s;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i == 12) return s + ", … (" + std::to_string(types.size()) + " in all)";
    s += (i ? ", " : "") + types[i].str();
  }
  return types.empty() ? std::string(none) : s;
}

}  // namespace

Module Parser::module() {
  Module m;
  std::unordered_set<std::string> functions;
  if (lex_.peek().kind == TokenKind::end) lex_.fail(lex_.peek(), "the text is empty; a module has a function: func @main(%x: f32[2]) -> (f32[2]) { return %x }");
  while (lex_.peek().kind != TokenKind::end) {
    if (!lex_.accept_word("func")) lex_.fail_expected("'func'");
    const Token name = lex_.expect(TokenKind::function, "the function's name, as in func @main");
    f_ = Function{};
    names_.clear();
    f_.name = name.name();
    if (!functions.insert(f_.name).second) lex_.fail(name, "the function @" + spell_name(f_.name) + " is defined twice");
    function(m);
  }
  return m;
}

void Parser::end() {
  if (lex_.peek().kind != TokenKind::end) lex_.fail_expected("the end of the text");
}

void Parser::function(Module& m) {
  parameters();
  lex_.expect("->", "and the result types in parentheses");
  const auto declared = result_types();
  lex_.expect("{", "before the function's body");
  body(declared);
  lex_.expect("}", "after return");
  m.functions.push_back(std::move(f_));
}

void Parser::parameters() {
  lex_.expect("(", "before the parameters");
  if (lex_.accept(")")) return;
  do {
    const Token name = lex_.expect(TokenKind::value, "a parameter, as in %x: f32[2,3]");
    lex_.expect(":", "and the parameter's type");
    f_.params.push_back(declare(name, type(), -1));
  } while (lex_.accept(","));
  lex_.expect(")", "or ',' after a parameter");
}

std::vector<Type> Parser::result_types() {
  std::vector<Type> types;
  lex_.expect("(", "before the result types");
  if (lex_.accept(")")) return types;
  do types.push_back(type());
  while (lex_.accept(","));
  lex_.expect(")", "or ',' after a result type");
  return types;
}

void Parser::body(const std::vector<Type>& declared) {
  while (!lex_.peek().is_word("return")) {
    const Token& t = lex_.peek();
    if (t.is("}") || t.kind == TokenKind::end || t.is_word("func")) lex_.fail(t, "the function @" + spell_name(f_.name) + " has no return");
    node();
  }
  returns(declared);
}

void Parser::returns(const std::vector<Type>& declared) {
  const Token at = lex_.next();
  std::vector<Type> given;
  if (lex_.peek().kind == TokenKind::value) {
    do {
      const Token t = lex_.expect(TokenKind::value, "a value to return");
      f_.results.push_back(use(t));
      given.push_back(f_.type(f_.results.back()));
      const auto k = given.size() - 1;
      if (k < declared.size() && given[k] != declared[k])
        lex_.fail(t, "result " + std::to_string(k) + " of @" + spell_name(f_.name) + " is declared " + declared[k].str() + ", but " + describe(t) + " is " + given[k].str());
    } while (lex_.accept(","));
  }
  if (given.size() != declared.size()) lex_.fail(at, "@" + spell_name(f_.name) + " is declared to give (" + list(declared, "nothing") + "), but returns (" + list(given, "nothing") + ")");
}

void Parser::node() {
  NodeText n;
  if (lex_.peek().kind == TokenKind::value) {
    do n.names.push_back(lex_.expect(TokenKind::value, "a result's name"));
    while (lex_.accept(","));
    lex_.expect("=", "after the results' names");
  }
  operation(n);
  operands(n);
  attributes(n);
  n.types = lex_.peek();
  if (!n.names.empty()) {
    lex_.expect(":", "and the result type");
    n.types = lex_.peek();
    do n.given.push_back(type());
    while (lex_.accept(","));
  }
  if (n.given.size() != n.names.size())
    lex_.fail(n.types, std::to_string(n.names.size()) + " results are named, but " + std::to_string(n.given.size()) + " types given");
  const auto after = lex_.mark();
  read_deferred(n);
  lex_.rewind(after);
  check_types(n);
  define(n);
}

void Parser::operation(NodeText& n) {
  if (lex_.peek().kind != TokenKind::identifier) lex_.fail_expected(n.names.empty() ? "a line %name = operation(…) : type, or return" : "an operation's name");
  n.op = lex_.next();
  const auto code = find_op(n.op.text);
  if (!code) lex_.fail(n.op, "there is no operation " + describe(n.op) + suggest_op(n.op.text));
  n.node.op = *code;
  n.node.where = lex_.where(n.names.empty() ? n.op : n.names.front());
}

void Parser::operands(NodeText& n) {
  lex_.expect("(", "before the operands");
  if (lex_.accept(")")) return;
  do n.node.operands.push_back(use(lex_.expect(TokenKind::value, "an operand, as in %x")));
  while (lex_.accept(","));
  lex_.expect(")", "or ',' after an operand");
}

void Parser::check_types(NodeText& n) {
  fill_from_result(n);
  std::vector<Type> operand_types;
  for (auto v : n.node.operands) operand_types.push_back(f_.type(v));
  const auto call = [&] { return std::string(n.op.text) + "(" + list(operand_types, "") + ")"; };
  if (auto wrong = complete_attrs(n.node.op, n.node.attrs)) lex_.fail(n.op, call() + ": " + *wrong);
  if (takes_types_from_functions(n.node.op)) return;
  Inferred inferred;
  try {
    inferred = infer(n.node.op, operand_types, n.node.attrs);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::internal) throw;
    lex_.fail(n.op, call() + ": " + e.what());
  }
  if (const auto* why = std::get_if<std::string>(&inferred)) lex_.fail(n.op, call() + ": " + *why);
  const auto& types = std::get<std::vector<Type>>(inferred);
  if (types != n.given) lex_.fail(n.types, call() + " gives " + list(types, "nothing") + ", but the text says " + list(n.given, "nothing"));
}

void Parser::define(NodeText& n) {
  const auto index = static_cast<std::int32_t>(f_.nodes.size());
  for (std::size_t i = 0; i < n.names.size(); ++i) n.node.results.push_back(declare(n.names[i], n.given[i], index));
  f_.nodes.push_back(std::move(n.node));
}

ValueId Parser::use(const Token& t) const {
  const auto it = names_.find(t.name());
  if (it == names_.end()) lex_.fail(t, describe(t) + " is used before its definition, or never defined");
  return it->second;
}

ValueId Parser::declare(const Token& name, const Type& type, std::int32_t node) {
  const auto id = static_cast<ValueId>(f_.values.size());
  if (!names_.emplace(name.name(), id).second) lex_.fail(name, describe(name) + " is defined twice; every value has a name of its own");
  f_.values.push_back({type, name.name(), node});
  return id;
}

Module parse(std::string_view text, std::string_view file) {
  Module m = Parser(text, file).module();
  verify_calls(m);
  return m;
}

Module parse_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) fail_input(path + " is a folder; name the program's file");
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || in.bad()) fail_input("cannot read " + path);
  return parse(text, path);
}

Type parse_type(std::string_view text) {
  Parser p(text, "<type>");
  const Type t = p.type();
  p.end();
  return t;
}

}  // namespace plumb::ir

// The parser's parts, shared by its sources.
#pragma once
#include <map>
#include <unordered_map>
#include <vector>

#include "ir/tensor/graph.h"
#include "ir/tensor/text_literal.h"

namespace plumb::ir {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : lex_(text, file) {}
  Module module();
  Type type();
  /// After the last thing that was to be read.
  void end();

 private:
  /// An attribute whose value can only be read with the result's type, which stands after it.
  struct Deferred {
    std::string_view name;
    Lexer::Mark start;
    std::size_t end;  ///< offset of the token after the value
  };
  struct NodeText {
    std::vector<Token> names;
    Token op;
    Token types;
    Node node;
    std::vector<Deferred> deferred;
    std::vector<Type> given;
  };

  void function(Module& m);
  void parameters();
  std::vector<Type> result_types();
  void body(const std::vector<Type>& declared);
  void returns(const std::vector<Type>& declared);
  void node();
  void operation(NodeText& n);
  void operands(NodeText& n);
  void check_types(NodeText& n);
  void define(NodeText& n);
  ValueId use(const Token& t) const;
  ValueId declare(const Token& name, const Type& type, std::int32_t node);

  void attributes(NodeText& n);
  AttrValue attribute(const AttrSpec& spec);
  void defer(NodeText& n, std::string_view name);
  void read_deferred(NodeText& n);
  void fill_from_result(NodeText& n) const;
  std::string text_value();
  Ints ints();
  Reals reals();
  Shape shape();
  Dim dim();

  Lexer lex_;
  Function f_;
  std::unordered_map<std::string, ValueId> names_;
  std::map<std::string, Dim, std::less<>> symbols_;
  std::int64_t splats_left_ = splat_budget;
};

}  // namespace plumb::ir

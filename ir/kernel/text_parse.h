// The kernel parser's parts, shared by its sources.
#pragma once
#include <unordered_map>

#include "ir/kernel/text.h"
#include "ir/tensor/lexer.h"

namespace plumb::kir {

class KernelParser {
 public:
  KernelParser(std::string_view text, std::string_view file) : text_(text), file_(file), lex_(text, file) {}
  Kernel kernel();
  bool at_end() const { return lex_.peek().kind == ir::TokenKind::end; }
  [[noreturn]] void fail_here(const std::string& message) { lex_.fail(lex_.peek(), message); }

 private:
  using Token = ir::Token;
  using TokenKind = ir::TokenKind;

  // text_parse.cpp: the kernel, its header, statements
  void parameter();
  bool header();
  void reduction();
  void site();
  void output_map();
  void spec();
  void resolve_maps();
  Block block();
  Stmt statement();
  Stmt named();
  Stmt store_or_combine(const Token& buffer);
  Stmt loop();
  Stmt condition();
  Stmt alloc();
  Stmt async_copy();
  Stmt tile_load();
  Stmt tile_mma();

  // text_parse_value.cpp: definitions and expressions
  Stmt definition(const Token& name);
  Stmt constant();
  Stmt apply(const Token& word);
  Stmt select();
  Stmt load();
  Stmt shuffle();
  Stmt check_index();
  std::uint64_t bits(const Token& value, DType dtype) const;
  Affine affine();
  Affine term();
  Affine atom();
  Affine group();
  Predicate predicate();
  Condition comparison();

  ScalarId scalar();
  ScalarId scalar(const Token& name) const;
  BufferId buffer();
  BufferId buffer(const Token& name) const;
  BufferId declare_buffer(const Token& name, DType dtype, Extents extents, Space space);
  Indices indices();
  std::pair<BufferId, Indices> access();
  Extents sizes();
  DType dtype();
  int reduction_use();
  std::int64_t integer(std::string_view what, std::int64_t low, std::int64_t high);
  std::int64_t integer(const Token& t, std::string_view what, std::int64_t low, std::int64_t high) const;
  void keyword(std::string_view word);
  void deeper();
  /// One of a few words, by the name that printing gives each.
  template <class E> E choose(std::initializer_list<E> all, std::string_view what) {
    for (auto e : all)
      if (lex_.accept_word(name(e))) return e;
    lex_.fail_expected(what);
  }

  struct MapText {
    std::size_t map;
    Token var;
    Affine value;
  };
  std::string_view text_, file_;
  ir::Lexer lex_;
  Kernel k_;
  std::unordered_map<std::string, BufferId> buffers_;
  std::unordered_map<std::string, ScalarId> scalars_;
  std::unordered_map<std::string, VarId> vars_;
  std::vector<MapText> maps_;
  int depth_ = 0;
};

}  // namespace plumb::kir

// Tokens of the text formats, and errors that show the place.
#pragma once
#include <string>
#include <string_view>

#include "ir/support/error.h"

namespace plumb::ir {

struct Token {
  enum class Kind { word, number, text /* "…" */, punctuation, end } kind = Kind::end;
  std::string_view text;
};

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file);
  const Token& peek() const { return token_; }
  Token next();
  bool is(std::string_view punctuation_or_word) const { return token_.kind != Token::Kind::text && token_.kind != Token::Kind::end && token_.text == punctuation_or_word; }
  bool accept(std::string_view s);
  void expect(std::string_view s);
  /// A name after '%' or '@', or a plain word.
  std::string word(std::string_view what);
  std::string sigil(char sigil, std::string_view what);
  std::int64_t integer(std::string_view what);
  SourceLocation where() const;
  /// Bad input at the present token, with its line and a caret.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void scan();
  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0, start_ = 0;
  Token token_;
};

}  // namespace plumb::ir

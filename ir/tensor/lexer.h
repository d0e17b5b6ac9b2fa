// Tokens of Plumb's text formats, pulled one at a time, with the places that messages need.
//
// Comments run from '#' or '//' to the end of the line. Words: identifiers; %value and @function names, plain
// ([A-Za-z0-9_.$-]+) or quoted (%"a/b"); numbers; strings; everything else is punctuation of one character, and "->".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/support/error.h"

namespace plumb::ir {

enum class TokenKind : std::uint8_t { end, identifier, value, function, number, string, punctuation };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< without '%', '@' and quotes; escapes are still as written
  std::size_t offset = 0;
  int line = 1, column = 1;
  bool quoted = false;
  bool is(std::string_view punctuation) const { return kind == TokenKind::punctuation && text == punctuation; }
  bool is_word(std::string_view word) const { return kind == TokenKind::identifier && text == word; }
  /// The name or string meant: escapes resolved.
  std::string name() const;
};

class Lexer {
 public:
  Lexer(std::string_view text, std::string_view file);

  const Token& peek() const { return token_; }
  Token next();
  bool accept(std::string_view punctuation);
  bool accept_word(std::string_view word);
  Token expect(std::string_view punctuation, std::string_view where_in);
  Token expect(TokenKind kind, std::string_view what);

  /// A place to come back to, for what can only be read once a later token is known.
  struct Mark {
    Token token;
    std::size_t position;
    int line;
    std::size_t line_start;
  };
  Mark mark() const { return {token_, position_, line_, line_start_}; }
  void rewind(const Mark& m);

  SourceLocation where(const Token& t) const { return {file_, t.line, t.column}; }
  std::size_t bytes_left() const { return text_.size() - position_; }
  /// Bad input: the message, the line and a caret under the token.
  [[noreturn]] void fail(const Token& at, const std::string& message) const;
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  void scan();
  void skip_blanks();
  void scan_string(TokenKind kind);
  void scan_name(TokenKind kind);
  void scan_number();
  void take(TokenKind kind, std::size_t length);

  std::string_view text_;
  std::string file_;
  std::size_t position_ = 0, line_start_ = 0;
  int line_ = 1;
  Token token_;
};

/// How a token reads in a message: "'add'", "the end of the text".
std::string describe(const Token& t);
/// A name as the formats write it after '%' or '@': plain where it can be, else quoted with escapes.
std::string spell_name(std::string_view name);

}  // namespace plumb::ir

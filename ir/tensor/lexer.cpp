#include "ir/tensor/lexer.h"

#include <algorithm>

namespace plumb::ir {
namespace {

// The C library's classification depends on the locale; the formats are ASCII.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$' || c == '-'; }
bool is_printable(char c) { return c >= ' ' && c <= '~'; }
constexpr std::string_view hex_digits = "0123456789abcdef";

std::string escape(std::string_view s) {
  std::string out;
  for (char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (is_printable(c)) out += c;
    else ((out += "\\x") += hex_digits[byte >> 4]) += hex_digits[byte & 15];
  }
  return out;
}

}  // namespace

std::string spell_name(std::string_view name) {
  if (!name.empty() && std::ranges::all_of(name, is_name_char)) return std::string(name);
  return '"' + escape(name) + '"';
}

std::string Token::name() const {
  if (!quoted) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text[++i] == 'x') {
      out += static_cast<char>(hex_digits.find(text[i + 1]) << 4 | hex_digits.find(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string describe(const Token& t) {
  if (t.kind == TokenKind::end) return "the end of the text";
  const std::string_view mark = t.kind == TokenKind::value ? "%" : t.kind == TokenKind::function ? "@" : "";
  const bool longer = t.text.size() > 40;
  return "'" + std::string(mark) + escape(t.text.substr(0, 40)) + (longer ? "…'" : "'");
}

Lexer::Lexer(std::string_view text, std::string_view file) : text_(text), file_(file.empty() ? "<text>" : file) {
  if (text_.starts_with("\xef\xbb\xbf")) position_ = 3;
  scan();
}

Token Lexer::next() {
  const Token t = token_;
  if (t.kind != TokenKind::end) scan();
  return t;
}

bool Lexer::accept(std::string_view punctuation) {
  if (!token_.is(punctuation)) return false;
  scan();
  return true;
}

bool Lexer::accept_word(std::string_view word) {
  if (!token_.is_word(word)) return false;
  scan();
  return true;
}

Token Lexer::expect(std::string_view punctuation, std::string_view where_in) {
  if (!token_.is(punctuation)) fail_expected("'" + std::string(punctuation) + "' " + std::string(where_in));
  return next();
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (token_.kind != kind) fail_expected(what);
  return next();
}

void Lexer::rewind(const Mark& m) {
  token_ = m.token;
  position_ = m.position;
  line_ = m.line;
  line_start_ = m.line_start;
}

void Lexer::fail_expected(std::string_view what) const { fail(token_, "expected " + std::string(what) + ", found " + describe(token_)); }

void Lexer::fail(const Token& at, const std::string& message) const {
  // Lines of literals can be megabytes long: show a window around the place.
  const std::size_t start = text_.rfind('\n', at.offset == 0 ? 0 : at.offset - 1);
  const std::size_t line_begin = at.offset == 0 || start == std::string_view::npos ? 0 : start + 1;
  const std::size_t line_end = std::min(text_.find('\n', at.offset), text_.size());
  const std::size_t begin = std::max(line_begin, at.offset > 100 ? at.offset - 100 : 0);
  const std::size_t end = std::min(line_end, begin + 160);
  std::string shown, caret;
  for (std::size_t i = begin; i < end; ++i) shown += is_printable(text_[i]) || (text_[i] & 0x80) ? text_[i] : ' ';
  for (std::size_t i = begin; i < at.offset; ++i)
    if ((text_[i] & 0xc0) != 0x80) caret += ' ';  // one column a character, UTF-8's continuations aside
  fail_input(message + "\n  " + shown + "\n  " + caret + "^", where(at));
}

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (c == '#' || text_.substr(position_, 2) == "//") {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

void Lexer::take(TokenKind kind, std::size_t length) {
  token_.kind = kind;
  token_.text = text_.substr(position_, length);
  position_ += token_.text.size();
}

void Lexer::scan() {
  skip_blanks();
  token_ = {TokenKind::end, {}, position_, line_, static_cast<int>(position_ - line_start_) + 1, false};
  if (position_ == text_.size()) return;
  const char c = text_[position_];
  const char after = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
  if (c == '%' || c == '@') return scan_name(c == '%' ? TokenKind::value : TokenKind::function);
  if (c == '"') return scan_string(TokenKind::string);
  if (is_digit(c) || (c == '-' && (is_digit(after) || is_letter(after) || after == '.'))) return scan_number();
  if (is_letter(c)) {
    std::size_t n = 1;
    while (position_ + n < text_.size() && (is_letter(text_[position_ + n]) || is_digit(text_[position_ + n]) || text_[position_ + n] == '.')) ++n;
    return take(TokenKind::identifier, n);
  }
  if (c == '-' && after == '>') return take(TokenKind::punctuation, 2);
  if (!is_printable(c)) {
    const auto byte = static_cast<unsigned char>(c);
    fail(token_, std::string("the byte 0x") + hex_digits[byte >> 4] + hex_digits[byte & 15] + " has no place here; the format is plain ASCII text");
  }
  take(TokenKind::punctuation, 1);
}

void Lexer::scan_name(TokenKind kind) {
  const char sign = text_[position_++];
  if (position_ < text_.size() && text_[position_] == '"') return scan_string(kind);
  std::size_t n = 0;
  while (position_ + n < text_.size() && is_name_char(text_[position_ + n])) ++n;
  if (n == 0) fail(token_, std::string("expected a name after '") + sign + "'");
  // "%a->" is a name and an arrow.
  if (position_ + n < text_.size() && text_[position_ + n] == '>' && n > 1 && text_[position_ + n - 1] == '-') --n;
  take(kind, n);
}

void Lexer::scan_string(TokenKind kind) {
  std::size_t end = ++position_;
  for (; end < text_.size() && text_[end] != '"' && text_[end] != '\n'; ++end) {
    if (text_[end] != '\\') continue;
    const auto escape_text = text_.substr(end + 1, 3);
    const bool hex = escape_text.size() == 3 && escape_text[0] == 'x' && hex_digits.find(escape_text[1]) != std::string_view::npos &&
                     hex_digits.find(escape_text[2]) != std::string_view::npos;
    if (!hex && !escape_text.starts_with('"') && !escape_text.starts_with('\\'))
      fail(token_, "a backslash in a string stands before \", \\ or x and two lower-case hexadecimal digits");
    end += hex ? 3 : 1;
  }
  if (end >= text_.size() || text_[end] != '"') fail(token_, "the string is not closed on its line");
  take(kind, end - position_);
  token_.quoted = true;
  ++position_;
}

void Lexer::scan_number() {
  std::size_t n = 1;
  for (; position_ + n < text_.size(); ++n) {
    const char c = text_[position_ + n], before = text_[position_ + n - 1];
    const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E') && n > 1;
    if (!is_digit(c) && !is_letter(c) && c != '.' && !sign) break;
  }
  take(TokenKind::number, n);
}

}  // namespace plumb::ir

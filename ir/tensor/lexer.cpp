#include "ir/tensor/lexer.h"

#include <algorithm>
#include <charconv>

namespace plumb::ir {
namespace {
bool word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_part(char c) { return word_start(c) || digit(c) || c == '.' || c == '$' || c == '-' || c == '/' || c == ':'; }
}  // namespace

Lexer::Lexer(std::string_view text, std::string_view file) : text_(text), file_(file) { scan(); }

void Lexer::scan() {
  for (;;) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    const bool comment = at_ < text_.size() && (text_[at_] == '#' || text_.substr(at_, 2) == "//");
    if (!comment) break;
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }
  start_ = at_;
  if (at_ == text_.size()) {
    token_ = {Token::Kind::end, {}};
    return;
  }
  auto take = [&](Token::Kind kind) { token_ = {kind, text_.substr(start_, at_ - start_)}; };
  const char c = text_[at_];
  if (word_start(c)) {
    while (at_ < text_.size() && (word_start(text_[at_]) || digit(text_[at_]))) ++at_;
    take(Token::Kind::word);
  } else if (digit(c) || ((c == '-' || c == '+') && at_ + 1 < text_.size() && (digit(text_[at_ + 1]) || text_[at_ + 1] == '.'))) {
    ++at_;
    while (at_ < text_.size() && (digit(text_[at_]) || word_start(text_[at_]) || text_[at_] == '.' ||
                                  ((text_[at_] == '-' || text_[at_] == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))))
      ++at_;
    take(Token::Kind::number);
  } else if (c == '"') {
    const auto close = text_.find('"', at_ + 1);
    if (close == std::string_view::npos) fail("a text that is never closed");
    at_ = close + 1;
    token_ = {Token::Kind::text, text_.substr(start_ + 1, close - start_ - 1)};
  } else if (text_.substr(at_, 2) == "->" || text_.substr(at_, 2) == "==") {
    at_ += 2;
    take(Token::Kind::punctuation);
  } else {
    ++at_;
    take(Token::Kind::punctuation);
  }
}

Token Lexer::next() {
  Token t = token_;
  scan();
  return t;
}

bool Lexer::accept(std::string_view s) {
  if (!is(s)) return false;
  scan();
  return true;
}

void Lexer::expect(std::string_view s) {
  if (!accept(s)) fail("expected '" + std::string(s) + "'");
}

std::string Lexer::word(std::string_view what) {
  if (token_.kind != Token::Kind::word) fail("expected " + std::string(what));
  return std::string(next().text);
}

std::string Lexer::sigil(char sigil, std::string_view what) {
  if (!is(std::string_view(&sigil, 1))) fail("expected " + std::string(1, sigil) + std::string(what));
  // A name runs on over characters that are tokens elsewhere: take it from the text itself.
  std::size_t end = at_;
  while (end < text_.size() && name_part(text_[end])) ++end;
  while (end > at_ && text_[end - 1] == ':') --end;  // the colon of a type
  if (end == at_) fail("expected " + std::string(what) + " after '" + std::string(1, sigil) + "'");
  std::string name(text_.substr(at_, end - at_));
  at_ = end;
  scan();
  return name;
}

std::int64_t Lexer::integer(std::string_view what) {
  std::int64_t v = 0;
  std::string_view s = token_.text;
  if (!s.empty() && s[0] == '+') s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (token_.kind != Token::Kind::number || error != std::errc() || end != s.data() + s.size()) fail("expected " + std::string(what) + ", a whole number of 64 bits");
  scan();
  return v;
}

SourceLocation Lexer::where() const {
  const auto before = text_.substr(0, start_);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto newline = before.rfind('\n');
  return {file_, line, static_cast<int>(start_ - (newline == std::string_view::npos ? 0 : newline + 1)) + 1};
}

void Lexer::fail(const std::string& message) const {
  const auto place = where();
  const std::size_t begin = start_ - static_cast<std::size_t>(place.column - 1);
  auto line = text_.substr(begin, text_.find('\n', begin) == std::string_view::npos ? std::string_view::npos : text_.find('\n', begin) - begin);
  std::string shown;
  std::size_t caret = static_cast<std::size_t>(place.column - 1), from = caret > 80 ? caret - 80 : 0;
  for (char c : line.substr(from, 120)) shown += (c >= ' ' && c < 127) ? c : ' ';
  const std::string found = token_.kind == Token::Kind::end ? " at the end of the text" : "";
  fail_input(message + found + "\n  " + shown + "\n  " + std::string(caret - from, ' ') + "^", place);
}

}  // namespace plumb::ir

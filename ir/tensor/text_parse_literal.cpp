#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ir/scalar/storage.h"
#include "ir/tensor/text_literal.h"

namespace plumb::ir {
namespace {

enum class Parsed { ok, malformed, overflow };

/// Whether a decimal that is out of range is so for being too small: its first digit other than 0 stands right of the point.
bool is_tiny(std::string_view s) {
  long exponent = 0;
  const auto e = s.find_first_of("eE");
  if (e != std::string_view::npos) {
    const auto digits = s.substr(e + 1);
    if (std::from_chars(digits.data() + digits.starts_with('+'), digits.data() + digits.size(), exponent).ec != std::errc()) return digits.starts_with('-');
    s = s.substr(0, e);
  }
  const auto point = std::min(s.find('.'), s.size());
  const auto first = s.find_first_of("123456789");
  return static_cast<long>(point) - static_cast<long>(first) + exponent < 0;
}

template <class T> Parsed read_decimal(std::string_view s, T& value) {
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (end != s.data() + s.size() || error == std::errc::invalid_argument) return Parsed::malformed;
  if (error != std::errc::result_out_of_range && !std::isinf(value)) return Parsed::ok;
  if (!is_tiny(s.substr(s.starts_with('-')))) return Parsed::overflow;
  value = s.starts_with('-') ? -T{0} : T{0};
  return Parsed::ok;
}

/// Decimal digits only: from_chars also knows words ("infinity") that the format does not.
bool looks_decimal(std::string_view s) {
  for (char c : s)
    if (!(c >= '0' && c <= '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') return false;
  return !s.empty();
}

bool read_word(const Token& t, double& value) {
  if (t.is_word("nan")) value = std::numeric_limits<double>::quiet_NaN();
  else if (t.is_word("inf")) value = HUGE_VAL;
  else if (t.kind == TokenKind::number && t.text == "-inf") value = -HUGE_VAL;
  else return false;
  return true;
}

class ElementReader {
 public:
  ElementReader(Lexer& lex, DType dtype) : lex_(lex), dtype_(dtype) {}

  std::uint64_t bits() {
    const Token t = lex_.next();
    if (is_bool(dtype_)) return boolean(t);
    return is_float(dtype_) ? real(t) : integer(t);
  }

 private:
  [[noreturn]] void reject(const Token& t, const std::string& why) const { lex_.fail(t, describe(t) + " " + why + " " + std::string(name(dtype_))); }

  std::uint64_t boolean(const Token& t) const {
    if (t.is_word("true") || (t.kind == TokenKind::number && t.text == "1")) return 1;
    if (t.is_word("false") || (t.kind == TokenKind::number && t.text == "0")) return 0;
    lex_.fail(t, "expected true or false, found " + describe(t));
  }

  std::uint64_t integer(const Token& t) const {
    const auto* end = t.text.data() + t.text.size();
    auto read = [&](auto value) {
      const auto [stop, error] = std::from_chars(t.text.data(), end, value);
      const bool negative_unsigned = is_unsigned(dtype_) && t.text.starts_with('-') && t.text.size() > 1 && t.text.find_first_not_of("0123456789", 1) == t.text.npos;
      if (t.kind != TokenKind::number || (stop != end && !negative_unsigned)) reject(t, "is not an integer, as needed for");
      const int width = row(dtype_).precision;
      const bool fits = is_signed(dtype_) ? width == 63 || (value >> width == 0 || ~value >> width == 0) : width == 64 || value >> width == 0;
      if (error != std::errc() || !fits || negative_unsigned) reject(t, "does not fit");
      return static_cast<std::uint64_t>(value);
    };
    return is_signed(dtype_) ? read(std::int64_t{0}) : read(std::uint64_t{0});
  }

  std::uint64_t real(const Token& t) const {
    double value = 0;
    if (read_word(t, value)) {
      if (std::isinf(value) && !row(dtype_).has_inf) reject(t, "does not exist in");
      return encode_float(dtype_, value);
    }
    Parsed parsed = Parsed::malformed;
    float narrow = 0;
    if (t.kind == TokenKind::number && looks_decimal(t.text)) parsed = dtype_ == DType::f32 ? read_decimal(t.text, narrow) : read_decimal(t.text, value);
    if (parsed == Parsed::malformed) reject(t, "is not a number, as needed for");
    if (dtype_ == DType::f32 && parsed == Parsed::ok) return std::bit_cast<std::uint32_t>(narrow);
    const std::uint64_t bits = encode_float(dtype_, value);
    // f8e4m3fn saturates instead of overflowing: 464 is half way to the number after its greatest, 448.
    if (parsed == Parsed::overflow || std::isinf(decode_float(dtype_, bits)) || (dtype_ == DType::f8e4m3fn && std::fabs(value) >= 464))
      reject(t, "lies beyond the greatest finite number of");
    return bits;
  }

  Lexer& lex_;
  DType dtype_;
};

/// Collects elements before any storage of the type's size is asked for.
class LiteralReader {
 public:
  LiteralReader(Lexer& lex, const Type& type) : lex_(lex), type_(type), extents_(type.extents()), element_(lex, part_dtype(type.dtype)) {}

  Literal list() {
    const Token open = lex_.peek();
    const auto expected = element_count(extents_);
    const auto start = lex_.mark();
    lex_.next();
    const bool nested = lex_.peek().is("[");
    lex_.rewind(start);
    if (nested) level(0);
    else flat();
    if (count_ != expected) lex_.fail(open, "the literal has " + std::to_string(count_) + " elements, " + type_.str() + " has " + std::to_string(expected));
    return finish();
  }

  Literal scalar() {
    append();
    return finish();
  }

  void append() {
    if (is_complex(type_.dtype)) append_complex();
    else append_bits(element_.bits());
    ++count_;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  /// (real, imaginary), or a real number alone.
  void append_complex() {
    const bool pair = lex_.accept("(");
    append_bits(element_.bits());
    if (!pair) return append_bits(0);
    lex_.expect(",", "between the parts of a complex number");
    append_bits(element_.bits());
    lex_.expect(")", "after the parts of a complex number");
  }
  void append_bits(std::uint64_t bits) {
    bytes_.append(reinterpret_cast<const char*>(&bits), static_cast<std::size_t>(byte_size(part_dtype(type_.dtype))));
  }
  void flat() {
    lex_.expect("[", "before the elements");
    if (lex_.accept("]")) return;
    do append();
    while (lex_.accept(","));
    lex_.expect("]", "or ',' after an element");
  }

  // The recursion is as deep as the type's rank at most.
  void level(std::size_t depth) {
    if (depth + 1 == extents_.size()) {
      const Token open = lex_.peek();
      const auto before = count_;
      flat();
      return check_length(open, count_ - before, depth);
    }
    const Token open = lex_.expect("[", "around axis " + std::to_string(depth) + " of " + type_.str());
    std::int64_t entries = 0;
    if (!lex_.accept("]")) {
      do {
        if (depth + 1 >= extents_.size()) lex_.fail(lex_.peek(), "the literal is nested deeper than " + type_.str());
        level(depth + 1);
        ++entries;
      } while (lex_.accept(","));
      lex_.expect("]", "or ',' after an entry of axis " + std::to_string(depth));
    }
    check_length(open, entries, depth);
  }

  void check_length(const Token& open, std::int64_t entries, std::size_t depth) const {
    if (entries != extents_[depth])
      lex_.fail(open, std::to_string(entries) + " entries along axis " + std::to_string(depth) + ", where " + type_.str() + " has " + std::to_string(extents_[depth]));
  }

  Literal finish() const {
    Literal l(type_);
    if (!bytes_.empty()) std::memcpy(l.mutable_raw(), bytes_.data(), bytes_.size());
    return l;
  }

  Lexer& lex_;
  const Type& type_;
  Extents extents_;
  ElementReader element_;
  std::string bytes_;
  std::int64_t count_ = 0;
};

std::string read_hex(Lexer& lex, const Type& type, std::int64_t bytes) {
  const Token t = lex.expect(TokenKind::string, "a string of hexadecimal digits after hex");
  if (static_cast<std::int64_t>(t.text.size()) / 2 != bytes || t.text.size() % 2 != 0)
    lex.fail(t, std::to_string(t.text.size()) + " hexadecimal digits, where " + type.str() + " needs two for each of " + std::to_string(bytes) + " bytes");
  static constexpr auto digit = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (int d = 0; d < 16; ++d) table[static_cast<std::size_t>("0123456789abcdef"[d])] = table[static_cast<std::size_t>("0123456789ABCDEF"[d])] = static_cast<std::int8_t>(d);
    return table;
  }();
  std::string out(t.text.size() / 2, '\0');
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit[static_cast<unsigned char>(t.text[2 * i])], low = digit[static_cast<unsigned char>(t.text[2 * i + 1])];
    if (high < 0 || low < 0) lex.fail(t, "hex needs hexadecimal digits only");
    out[i] = static_cast<char>(high << 4 | low);
  }
  return out;
}

Literal read_splat(Lexer& lex, const Token& at, const Type& type, std::int64_t& splats_left) {
  if (type.bytes() > splats_left) lex.fail(at, "splats of more than " + std::to_string(splat_budget >> 20) + " MiB in one text; broadcast a scalar instead");
  splats_left -= type.bytes();
  std::string element;
  if (lex.accept_word("hex")) {
    element = read_hex(lex, Type{type.dtype, {}}, byte_size(type.dtype));
  } else {
    LiteralReader one(lex, type);
    one.append();
    element = one.bytes();
  }
  Literal l(type);
  for (std::int64_t i = 0; i < l.elements(); ++i) std::memcpy(l.mutable_data<char>() + i * byte_size(type.dtype), element.data(), element.size());
  return l;
}

}  // namespace

double parse_real(Lexer& lex) {
  const Token t = lex.next();
  double value = 0;
  if (read_word(t, value)) return value;
  const Parsed parsed = t.kind == TokenKind::number && looks_decimal(t.text) ? read_decimal(t.text, value) : Parsed::malformed;
  if (parsed == Parsed::malformed) lex.fail(t, "expected a number, found " + describe(t));
  if (parsed == Parsed::overflow) lex.fail(t, describe(t) + " lies beyond the greatest finite f64");
  return value;
}

std::int64_t parse_integer(Lexer& lex, std::string_view what) {
  const Token t = lex.peek();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  if (t.kind != TokenKind::number || end != t.text.data() + t.text.size()) lex.fail_expected(what);
  if (error != std::errc()) lex.fail(t, describe(t) + " does not fit 64 bits");
  lex.next();
  return value;
}

Literal parse_elements(Lexer& lex, const Type& type, std::int64_t& splats_left) {
  const Token first = lex.peek();
  if (!type.is_concrete()) lex.fail(first, "a literal's type has sizes only, not " + type.str());
  if (first.is("[")) return LiteralReader(lex, type).list();
  if (lex.accept_word("splat")) return read_splat(lex, first, type, splats_left);
  if (lex.accept_word("hex")) {
    const std::string bytes = read_hex(lex, type, type.bytes());
    Literal l(type);
    if (!bytes.empty()) std::memcpy(l.mutable_raw(), bytes.data(), bytes.size());
    return l;
  }
  if (type.rank() != 0) lex.fail(first, "the elements of " + type.str() + " stand in brackets: [1, 2, …], splat 1 or hex\"…\"");
  return LiteralReader(lex, type).scalar();
}

}  // namespace plumb::ir

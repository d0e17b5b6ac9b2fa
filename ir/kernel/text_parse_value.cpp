#include <charconv>
#include <cmath>

#include "ir/kernel/text_parse.h"
#include "ir/scalar/storage.h"

namespace plumb::kir {

namespace {
constexpr std::int64_t most = std::int64_t{1} << 40;   ///< of coefficients and divisors: sums of them stay far from 2^63
}

void KernelParser::keyword(std::string_view word) {
  if (!lex_.accept_word(word)) lex_.fail_expected("'" + std::string(word) + "'");
}

std::int64_t KernelParser::integer(const Token& t, std::string_view what, std::int64_t low, std::int64_t high) const {
  std::int64_t v = 0;
  const auto [end, error] = std::from_chars(t.text.data(), t.text.data() + t.text.size(), v);
  if (t.kind != TokenKind::number || error == std::errc::invalid_argument || end != t.text.data() + t.text.size()) lex_.fail(t, "expected " + std::string(what) + ", found " + ir::describe(t));
  if (error != std::errc() || v < low || v > high)
    lex_.fail(t, std::string(what) + " lies in [" + std::to_string(low) + ", " + std::to_string(high) + "], unlike " + ir::describe(t));
  return v;
}
std::int64_t KernelParser::integer(std::string_view what, std::int64_t low, std::int64_t high) {
  const auto v = integer(lex_.peek(), what, low, high);
  lex_.next();
  return v;
}

DType KernelParser::dtype() {
  const Token t = lex_.expect(TokenKind::identifier, "a dtype");
  const auto d = dtype_from_name(t.text);
  if (!d) lex_.fail(t, "there is no dtype '" + std::string(t.text) + "'");
  if (is_complex(*d)) lex_.fail(t, "kernels compute on the parts of complex numbers, " + std::string(name(part_dtype(*d))));
  return *d;
}

ScalarId KernelParser::scalar() { return scalar(lex_.expect(TokenKind::value, "a scalar, as %1")); }
ScalarId KernelParser::scalar(const Token& t) const {
  const auto s = scalars_.find(t.name());
  if (s == scalars_.end()) lex_.fail(t, ir::describe(t) + (buffers_.contains(t.name()) ? " is a buffer, not a scalar" : " is not defined before its use"));
  return s->second;
}
BufferId KernelParser::buffer() { return buffer(lex_.expect(TokenKind::value, "a buffer, as %name")); }
BufferId KernelParser::buffer(const Token& t) const {
  const auto b = buffers_.find(t.name());
  if (b == buffers_.end()) lex_.fail(t, ir::describe(t) + (scalars_.contains(t.name()) ? " is a scalar, not a buffer" : " is not declared before its use"));
  return b->second;
}

Indices KernelParser::indices() {
  lex_.expect("[", "before the indices");
  Indices r;
  if (lex_.accept("]")) return r;
  do r.push_back(affine());
  while (lex_.accept(","));
  lex_.expect("]", "after the indices");
  return r;
}
std::pair<BufferId, Indices> KernelParser::access() {
  const auto b = buffer();
  return {b, indices()};
}

// ── definitions ──

Stmt KernelParser::definition(const Token& name) {
  const Token word = lex_.expect(TokenKind::identifier, "what defines the scalar");
  Stmt s;
  Token value = lex_.peek();
  if (word.is_word("constant")) lex_.next(), s = {Constant{-1, 0}};
  else if (word.is_word("convert")) s = {Convert{-1, scalar()}};
  else if (word.is_word("bitcast")) s = {Convert{-1, scalar(), true}};
  else if (word.is_word("select")) s = select();
  else if (word.is_word("index")) s = {IndexValue{-1, affine()}};
  else if (word.is_word("test")) s = {Test{-1, predicate()}};
  else if (word.is_word("load")) s = load();
  else if (word.is_word("shuffle")) s = shuffle();
  else if (word.is_word("check_index")) s = check_index();
  else s = apply(word);
  lex_.expect(":", "before the scalar's dtype");
  const DType t = dtype();
  const auto id = static_cast<ScalarId>(k_.scalars.size());
  k_.scalars.push_back(t);
  std::visit([&](auto& n) {
    if constexpr (requires { n.result; }) n.result = id;
  }, s.node);
  if (auto* c = std::get_if<Constant>(&s.node)) c->bits = bits(value, t);
  if (buffers_.contains(name.name()) || !scalars_.emplace(name.name(), id).second) lex_.fail(name, ir::describe(name) + " is defined twice");
  return s;
}

/// Any spelling of the value, or the bits themselves after 0x.
std::uint64_t KernelParser::bits(const Token& t, DType d) const {
  const auto whole = [&](auto& v, std::string_view digits, int base) {
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), v, base);
    if (digits.empty() || r.ec != std::errc() || r.ptr != digits.data() + digits.size()) lex_.fail(t, ir::describe(t) + " is not a value of " + std::string(name(d)));
  };
  const auto mask = ~std::uint64_t{0} >> (64 - 8 * byte_size(d));
  if (t.text.starts_with("0x")) {
    std::uint64_t v = 0;
    whole(v, t.text.substr(2), 16);
    if (v > mask || (is_bool(d) && v > 1)) lex_.fail(t, ir::describe(t) + " has more bits than " + std::string(name(d)));
    return v;
  }
  if (is_bool(d)) {
    if (!t.is_word("true") && !t.is_word("false")) lex_.fail(t, "a bool is true or false, unlike " + ir::describe(t));
    return t.is_word("true");
  }
  if (is_unsigned(d)) {
    std::uint64_t v = 0;
    whole(v, t.text, 10);
    if (v > mask) lex_.fail(t, ir::describe(t) + " is outside " + std::string(name(d)));
    return v;
  }
  if (is_signed(d)) {
    std::int64_t v = 0;
    whole(v, t.text, 10);
    const int spare = 64 - 8 * byte_size(d);
    if (static_cast<std::int64_t>(static_cast<std::uint64_t>(v) << spare) >> spare != v) lex_.fail(t, ir::describe(t) + " is outside " + std::string(name(d)));
    return static_cast<std::uint64_t>(v) & mask;
  }
  if (t.text == "inf" || t.text == "-inf") return encode_float(d, t.text == "inf" ? HUGE_VAL : -HUGE_VAL);
  double v = 0;
  const auto r = std::from_chars(t.text.data(), t.text.data() + t.text.size(), v);
  if (t.kind != TokenKind::number || r.ec != std::errc() || r.ptr != t.text.data() + t.text.size()) lex_.fail(t, ir::describe(t) + " is not a value of " + std::string(name(d)));
  return encode_float(d, v);
}

Stmt KernelParser::apply(const Token& word) {
  const auto fn = fn_from_name(word.text);
  if (!fn) lex_.fail(word, "there is no scalar function or definition '" + std::string(word.text) + "'");
  Apply a{-1, *fn, {}};
  lex_.expect("(", "before the arguments");
  for (int i = 0; i < row(*fn).arity; ++i) {
    if (i) lex_.expect(",", "before the next argument");
    a.args.push_back(scalar());
  }
  lex_.expect(")", "after the arguments");
  return {std::move(a)};
}

Stmt KernelParser::select() {
  Select s{};
  lex_.expect("(", "before the arguments");
  s.condition = scalar();
  lex_.expect(",", "before the value where it holds");
  s.on_true = scalar();
  lex_.expect(",", "before the value elsewhere");
  s.on_false = scalar();
  lex_.expect(")", "after the arguments");
  return {s};
}

Stmt KernelParser::load() {
  Load l{};
  std::tie(l.buffer, l.index) = access();
  l.other = -1;
  if (lex_.accept_word("if")) {
    l.guard = predicate();
    keyword("else");
    l.other = scalar();
  }
  return {std::move(l)};
}

Stmt KernelParser::shuffle() {
  Shuffle s{};
  s.mode = choose({ShuffleMode::bit_xor, ShuffleMode::down, ShuffleMode::up, ShuffleMode::from}, "xor, down, up or from");
  s.arg = scalar();
  lex_.expect(",", "before the lane");
  s.lane = affine();
  return {std::move(s)};
}

Stmt KernelParser::check_index() {
  CheckIndex c{};
  c.value = scalar();
  keyword("in");
  c.extent = integer("an extent", 0, most);
  keyword("site");
  c.site = static_cast<int>(integer("a site's number", 0, 1 << 20));
  return {c};
}

// ── index expressions ──

Affine KernelParser::affine() {
  deeper();
  Affine sum = term();
  for (;;) {
    if (lex_.accept("+")) sum = sum + term();
    else if (lex_.accept("-")) sum = sum - term();
    else break;
  }
  --depth_;
  return sum;
}

Affine KernelParser::term() {
  const auto times = [&](const Token& at, const Affine& a, std::int64_t n) {
    const bool one_atom = a.constant() == 0 && a.terms().size() == 1 && a.terms()[0].coefficient == 1;
    if (!one_atom) lex_.fail(at, "a sum is not multiplied; multiply its terms");
    return a * n;
  };
  const Token start = lex_.peek();
  if (start.kind == TokenKind::number) {
    const auto n = integer("a number", -most, most);
    return lex_.accept("*") ? times(start, atom(), n) : Affine(n);
  }
  const Affine a = atom();
  return lex_.accept("*") ? times(start, a, integer("a number", -most, most)) : a;
}

Affine KernelParser::atom() {
  const Token t = lex_.peek();
  if (t.kind == TokenKind::value) {
    const auto s = scalar(lex_.next());
    if (k_.scalars[static_cast<std::size_t>(s)] != DType::i64) lex_.fail(t, ir::describe(t) + " is no i64, so it cannot index");
    return Affine::value(s);
  }
  if (lex_.accept("(")) return group();
  if (t.kind != TokenKind::identifier) lex_.fail_expected("an index expression");
  lex_.next();
  if (t.is_word("dim")) {
    lex_.expect("(", "before the symbol");
    const auto a = Affine::symbol(ir::intern_symbol(lex_.expect(TokenKind::identifier, "a symbol").text));
    lex_.expect(")", "after the symbol");
    return a;
  }
  if (t.is_word("coord")) {
    lex_.expect("(", "before the axis");
    const auto a = Affine::coordinate(static_cast<int>(integer("an axis", 0, static_cast<std::int64_t>(max_rank))));
    lex_.expect(")", "after the axis");
    return a;
  }
  const auto v = vars_.find(t.name());
  if (v == vars_.end()) lex_.fail(t, "no loop around this place has the variable " + ir::describe(t));
  return Affine::var(v->second);
}

/// After "(": a division, a remainder, an xor, or a sum.
Affine KernelParser::group() {
  const Token start = lex_.peek();
  const Affine x = affine();
  Affine r;
  if (lex_.accept_word("floordiv")) {
    const auto c = integer("a divisor", 1, most);
    const bool nested = x.constant() == 0 && x.terms().size() == 1 && x.terms()[0].coefficient == 1 && x.terms()[0].atom.kind == Atom::Kind::floor_div;
    if (nested && x.terms()[0].atom.divisor > most / c) lex_.fail(start, "the product of the divisors is too large");
    r = floor_div(x, c);
  } else if (lex_.accept_word("mod")) {
    r = mod(x, integer("a divisor", 1, most));
  } else if (lex_.accept_word("xor")) {
    r = bit_xor(x, affine());
  } else if (lex_.peek().is(")")) {
    r = x;
  } else {
    lex_.fail_expected("floordiv, mod, xor or ')'");
  }
  lex_.expect(")", "after the expression");
  return r;
}

Predicate KernelParser::predicate() {
  Predicate p;
  if (lex_.accept_word("true")) return p;
  do p.push_back(comparison());
  while (lex_.accept_word("and"));
  return p;
}

Condition KernelParser::comparison() {
  const Affine left = affine();
  const bool less = lex_.accept("<"), greater = !less && lex_.accept(">");
  const bool or_equal = lex_.accept("=");
  if (!less && !greater) {
    if (!or_equal) lex_.fail_expected("<, <=, >, >= or ==");
    lex_.expect("=", "after '='");
  }
  const Affine right = affine();
  if (!less && !greater) return {left - right, true};
  return {(less ? right - left : left - right) - (or_equal ? 0 : 1), false};
}

}  // namespace plumb::kir

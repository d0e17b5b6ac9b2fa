#include <charconv>
#include <cmath>
#include <cstring>
#include <map>

#include "ir/scalar/storage.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/lexer.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::ir {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : lex_(text, file) {}

  Module module() {
    Module m;
    do {
      m.functions.push_back(function());
      for (std::size_t i = 0; i + 1 < m.functions.size(); ++i)
        if (m.functions[i].name == m.functions.back().name) lex_.fail("function @" + m.functions[i].name + " is defined twice");
    } while (lex_.peek().kind != Token::Kind::end);
    return m;
  }

 private:
  Dim dim() {
    if (lex_.peek().kind == Token::Kind::word) return Dim::named(lex_.next().text);
    const auto n = lex_.integer("a dimension: a size or a name");
    if (n < 0) lex_.fail("a dimension is not negative");
    return n;
  }

  Shape shape() {
    Shape s;
    lex_.expect("[");
    while (!lex_.is("]")) {
      if (!s.empty()) lex_.expect(",");
      if (s.size() == max_rank) lex_.fail("a rank above " + std::to_string(max_rank) + " is not supported");
      s.push_back(dim());
    }
    lex_.expect("]");
    return s;
  }

  Type type() {
    const auto t = dtype_from_name(lex_.peek().text);
    if (!t) lex_.fail("expected a type such as f32[2,3]; dtypes are bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3fn f8e5m2 bf16 f16 f32 f64");
    lex_.next();
    Type r{*t, shape()};
    try {
      if (r.is_concrete()) (void)r.bytes();
    } catch (const Error& e) {
      lex_.fail(e.what());
    }
    return r;
  }

  std::vector<Type> types() {
    std::vector<Type> r{type()};
    while (lex_.accept(",")) r.push_back(type());
    return r;
  }

  Ints ints() {
    Ints r;
    lex_.expect("[");
    while (!lex_.is("]")) {
      if (!r.empty()) lex_.expect(",");
      r.push_back(lex_.integer("a whole number"));
    }
    lex_.expect("]");
    return r;
  }

  double real() {
    const bool minus = lex_.accept("-");
    double v = 0;
    const auto t = lex_.peek();
    if (t.kind == Token::Kind::word && t.text == "nan") v = std::nan("");
    else if (t.kind == Token::Kind::word && t.text == "inf") v = HUGE_VAL;
    else {
      auto s = t.text;
      if (!s.empty() && s[0] == '+') s.remove_prefix(1);
      const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
      if (t.kind != Token::Kind::number || end != s.data() + s.size() || error == std::errc::invalid_argument) lex_.fail("expected a number");
      if (error == std::errc::result_out_of_range) v = std::strtod(std::string(s).c_str(), nullptr);
    }
    lex_.next();
    return minus ? -v : v;
  }

  /// One element's bits, in the dtype.
  std::uint64_t element(DType t) {
    std::uint64_t bits = 0;
    if (is_bool(t) && (lex_.is("true") || lex_.is("false"))) return lex_.next().text == "true";
    if (t == DType::u64 || t == DType::i64) {
      auto s = lex_.peek().text;
      std::int64_t v = 0;
      const char* end = s.data() + s.size();
      auto r = t == DType::u64 && !s.starts_with('-') ? std::from_chars(s.data(), end, bits) : std::from_chars(s.data(), end, v);
      if (r.ec == std::errc() && r.ptr == end) {
        lex_.next();
        return t == DType::u64 && !s.starts_with('-') ? bits : static_cast<std::uint64_t>(v);
      }
    }
    const auto place = lex_;
    if (t == DType::f32) {  // read at its own precision: through a double it would round twice
      float v = 0;
      auto s = lex_.peek().text;
      auto r = std::from_chars(s.data(), s.data() + s.size(), v);
      if (lex_.peek().kind == Token::Kind::number && r.ec == std::errc() && r.ptr == s.data() + s.size()) {
        lex_.next();
        std::memcpy(&bits, &v, sizeof v);
        return bits;
      }
    }
    const double v = real();
    if (is_integer(t)) {
      const double low = is_signed(t) ? -std::ldexp(1.0, row(t).precision) : 0, high = std::ldexp(1.0, row(t).precision) - 1;
      if (v != std::trunc(v) || v < low || v > high) place.fail("not a value of " + std::string(name(t)));
    }
    store_element(t, &bits, 0, v);
    return bits;
  }

  /// The elements before the type is known: kept as the text's place, read once the type after ':' is.
  struct PendingLiteral { Lexer at; };

  void skip_literal() {
    int depth = 0;
    do {
      if (lex_.is("[")) ++depth;
      else if (lex_.is("]")) --depth;
      else if (lex_.peek().kind == Token::Kind::end) lex_.fail("a literal that is never closed");
      const bool prefix = lex_.is("splat") || lex_.is("hex") || lex_.is("-");
      lex_.next();
      if (prefix) lex_.next();
    } while (depth > 0);
  }

  Literal literal(Lexer at, const Type& t) {
    std::swap(lex_, at);
    std::vector<std::uint64_t> bits;
    const std::int64_t n = t.elements();
    const auto size = static_cast<std::size_t>(byte_size(t.dtype));
    std::string raw;
    bool splat = false;
    if (lex_.accept("splat")) {
      splat = true;
      bits.push_back(element(t.dtype));
    } else if (lex_.accept("hex")) {
      raw = hex(n * static_cast<std::int64_t>(size));
    } else {
      elements(t.dtype, n, bits, 0);
    }
    if (!splat && raw.empty() && static_cast<std::int64_t>(bits.size()) != n)
      lex_.fail("the literal has " + std::to_string(bits.size()) + " elements, " + t.str() + " needs " + std::to_string(n));
    std::swap(lex_, at);
    Literal l(t);
    auto* p = static_cast<char*>(l.mutable_raw());
    if (!raw.empty()) std::memcpy(p, raw.data(), raw.size());
    else
      for (std::int64_t i = 0; i < n; ++i) std::memcpy(p + static_cast<std::size_t>(i) * size, &bits[splat ? 0 : static_cast<std::size_t>(i)], size);
    return l;
  }

  void elements(DType t, std::int64_t limit, std::vector<std::uint64_t>& to, int depth) {
    if (depth > 64) lex_.fail("a literal nested too deeply");
    if (!lex_.accept("[")) {
      if (static_cast<std::int64_t>(to.size()) >= limit) lex_.fail("the literal has more elements than its type");
      to.push_back(element(t));
      return;
    }
    for (bool first = true; !lex_.accept("]"); first = false) {
      if (!first) lex_.expect(",");
      elements(t, limit, to, depth + 1);
    }
  }

  std::string hex(std::int64_t bytes) {
    const auto t = lex_.peek();
    if (t.kind != Token::Kind::text || static_cast<std::int64_t>(t.text.size()) != 2 * bytes) lex_.fail("expected \"" + std::to_string(2 * bytes) + " hexadecimal digits\"");
    std::string r;
    for (std::size_t i = 0; i < t.text.size(); i += 2) {
      unsigned v = 0;
      const auto [end, error] = std::from_chars(t.text.data() + i, t.text.data() + i + 2, v, 16);
      if (error != std::errc() || end != t.text.data() + i + 2) lex_.fail("not a hexadecimal digit");
      r += static_cast<char>(v);
    }
    lex_.next();
    return r;
  }

  ValueId use() {
    const auto place = lex_;
    const auto name = lex_.sigil('%', "value name");
    auto it = names_.find(name);
    if (it == names_.end()) place.fail("%" + name + " is not defined here");
    return it->second;
  }

  void define(const Lexer& place, const std::string& name, ValueId v) {
    if (!names_.emplace(name, v).second) place.fail("%" + name + " is defined twice");
  }

  struct Pending {
    AttrMap attrs;
    std::string literal_name;
    std::optional<Lexer> literal;
  };

  void attribute(OpCode op, Pending& to) {
    const auto place = lex_;
    const auto name = lex_.word("an attribute name");
    const auto specs = attr_specs(op);
    auto spec = std::ranges::find(specs, name, &AttrSpec::name);
    if (spec == specs.end()) {
      std::string known;
      for (const auto& s : specs) known += (known.empty() ? "" : ", ") + std::string(s.name);
      place.fail(std::string(row(op).name) + " has no attribute '" + name + "'" + (known.empty() ? "; it takes none" : "; it has " + known));
    }
    if (to.attrs.find(name) || to.literal_name == name) place.fail("attribute '" + name + "' is given twice");
    lex_.expect("=");
    switch (spec->kind) {
      case AttrKind::boolean:
        if (!lex_.is("true") && !lex_.is("false")) lex_.fail("expected true or false");
        to.attrs.set(name, lex_.next().text == "true");
        break;
      case AttrKind::integer: to.attrs.set(name, lex_.integer("a whole number")); break;
      case AttrKind::real: to.attrs.set(name, real()); break;
      case AttrKind::text: to.attrs.set(name, lex_.sigil('@', "function name")); break;
      case AttrKind::ints: to.attrs.set(name, ints()); break;
      case AttrKind::shape: to.attrs.set(name, shape()); break;
      case AttrKind::dtype: {
        const auto t = dtype_from_name(lex_.peek().text);
        if (!t) lex_.fail("expected a dtype");
        lex_.next();
        to.attrs.set(name, *t);
        break;
      }
      case AttrKind::literal:
        to.literal_name = name;
        to.literal = lex_;
        skip_literal();
        break;
    }
  }

  void statement(Function& f, Builder& b) {
    b.at(lex_.where());
    std::vector<std::pair<Lexer, std::string>> results;
    do {
      const auto place = lex_;
      results.emplace_back(place, lex_.sigil('%', "value name"));
    } while (lex_.accept(","));
    lex_.expect("=");
    const auto place = lex_;
    const auto name = lex_.word("an operation");
    const auto op = find_op(name);
    if (!op) place.fail("there is no operation '" + name + "'" + nearest(name));
    std::vector<ValueId> operands;
    lex_.expect("(");
    while (!lex_.is(")")) {
      if (!operands.empty()) lex_.expect(",");
      operands.push_back(use());
    }
    lex_.expect(")");
    Pending p;
    if (lex_.accept("{")) {
      while (!lex_.is("}")) {
        if (!p.attrs.entries().empty() || p.literal) lex_.expect(",");
        attribute(*op, p);
      }
      lex_.expect("}");
    }
    lex_.expect(":");
    const auto stated = types();
    if (stated.size() != results.size()) place.fail(std::to_string(results.size()) + " names for " + std::to_string(stated.size()) + " types");
    const auto ids = add(place, *op, operands, p, stated, b);
    for (std::size_t i = 0; i < results.size(); ++i) {
      define(results[i].first, results[i].second, ids[i]);
      f.values[static_cast<std::size_t>(ids[i])].name = results[i].second;
    }
  }

  std::vector<ValueId> add(const Lexer& place, OpCode op, const std::vector<ValueId>& operands, Pending& p, const std::vector<Type>& stated, Builder& b) {
    if (p.literal) {
      if (!stated[0].is_concrete()) place.fail("a literal needs a type without names");
      p.attrs.set(p.literal_name, literal(*p.literal, stated[0]));
    }
    for (const auto& spec : attr_specs(op)) {  // what the type already says may be left out
      if (p.attrs.find(spec.name)) continue;
      if (spec.kind == AttrKind::shape) p.attrs.set(spec.name, stated[0].shape);
      if (spec.kind == AttrKind::dtype) p.attrs.set(spec.name, stated[0].dtype);
    }
    try {
      if (row(op).name == "if") {
        if (auto wrong = complete_attrs(op, p.attrs)) place.fail(*wrong);
        return b.add_typed(op, operands, p.attrs, stated);
      }
      const auto ids = b.add(row(op).name, operands, p.attrs);
      for (std::size_t i = 0; i < ids.size() && i < stated.size(); ++i)
        if (b.type(ids[i]) != stated[i]) place.fail("the text says " + stated[i].str() + ", the operation gives " + b.type(ids[i]).str());
      if (ids.size() != stated.size()) place.fail("the operation gives " + std::to_string(ids.size()) + " values");
      return ids;
    } catch (const Error& e) {
      std::string what = e.what();
      const auto prefix = b.where().str() + ": ";
      if (what.starts_with(prefix)) what = what.substr(prefix.size());
      if (e.where().column && e.where() != b.where()) throw;
      place.fail(what);
    }
  }

  static std::string nearest(const std::string& name) {
    std::string best;
    std::size_t best_common = 2;
    for (std::size_t i = 0; i < op_count(); ++i) {
      const auto candidate = row(static_cast<OpCode>(i)).name;
      std::size_t common = 0;
      while (common < name.size() && common < candidate.size() && name[common] == candidate[common]) ++common;
      if (common > best_common) best_common = common, best = candidate;
    }
    return best.empty() ? "" : "; is it '" + best + "'?";
  }

  Function function() {
    names_.clear();
    Function f;
    Builder b(f);
    lex_.expect("func");
    f.name = lex_.sigil('@', "function name");
    lex_.expect("(");
    while (!lex_.is(")")) {
      if (!f.params.empty()) lex_.expect(",");
      const auto place = lex_;
      const auto name = lex_.sigil('%', "parameter name");
      lex_.expect(":");
      define(place, name, b.param(type(), name));
    }
    lex_.expect(")");
    lex_.expect("->");
    lex_.expect("(");
    std::vector<Type> stated;
    if (!lex_.is(")")) stated = types();
    lex_.expect(")");
    lex_.expect("{");
    while (!lex_.is("return")) {
      if (!lex_.is("%")) lex_.fail("expected a value '%name = …' or return");
      statement(f, b);
    }
    const auto place = lex_;
    lex_.next();
    std::vector<ValueId> results;
    if (!lex_.is("}")) do results.push_back(use());
      while (lex_.accept(","));
    if (results.size() != stated.size()) place.fail("the signature has " + std::to_string(stated.size()) + " results, return gives " + std::to_string(results.size()));
    for (std::size_t i = 0; i < results.size(); ++i)
      if (f.type(results[i]) != stated[i]) place.fail("result " + std::to_string(i) + " is " + f.type(results[i]).str() + ", the signature says " + stated[i].str());
    b.results(results);
    lex_.expect("}");
    return f;
  }

  Lexer lex_;
  std::map<std::string, ValueId> names_;
};

}  // namespace

Module parse(std::string_view text, std::string_view file) {
  Module m = Parser(text, file).module();
  verify(m);
  return m;
}

}  // namespace plumb::ir

// Derivatives of the scalar functions as the specification prints them: their slopes in the domain of texts.
#include "ir/scalar/slopes.h"

#include <charconv>
#include <string>
#include <vector>

#include "interpreter/specification/sections.h"

namespace plumb::spec {
namespace {

/// How tightly a text holds together, from loose to tight.
enum class Bond { choice, sum, product, sign, word };
struct Text { std::string s; Bond bond; };

std::string within(const Text& t, Bond least) { return t.bond < least ? "(" + t.s + ")" : t.s; }

std::string number(double v) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, v).ptr};
}

struct Texts {
  using Value = Text;
  struct Condition { std::string s; };

  Value constant_like(const Value&, double v) { return {number(v), v < 0 ? Bond::sign : Bond::word}; }
  Value select(const Condition& c, const Value& yes, const Value& no) { return {c.s + " ? " + within(yes, Bond::sum) + " : " + no.s, Bond::choice}; }

  Condition apply(scalar::And, const Condition& a, const Condition& b) { return {a.s + " and " + b.s}; }
  template <class Fn> auto apply(Fn, const std::same_as<Value> auto&... operands) {
    using namespace scalar;
    const std::array a{operands...};
    const auto infix = [&](const char* sign, Bond bond, Bond right) { return Value{within(a[0], bond) + sign + within(a[1], right), bond}; };
    const auto compare = [&](const char* sign) { return Condition{within(a[0], Bond::sum) + sign + within(a[1], Bond::sum)}; };
    if constexpr (std::same_as<Fn, Eq>) return compare(" = ");
    else if constexpr (std::same_as<Fn, Lt>) return compare(" < ");
    else if constexpr (std::same_as<Fn, Ge>) return compare(" >= ");
    else if constexpr (std::same_as<Fn, Add>) return infix(" + ", Bond::sum, Bond::sum);
    else if constexpr (std::same_as<Fn, Sub>) return infix(" - ", Bond::sum, Bond::product);
    else if constexpr (std::same_as<Fn, Mul>) return infix(" * ", Bond::product, Bond::sign);
    else if constexpr (std::same_as<Fn, Div>) return infix(" / ", Bond::product, Bond::sign);
    else if constexpr (std::same_as<Fn, Neg>) return Value{"-" + within(a[0], Bond::word), Bond::sign};
    else {
      std::string s(Fn::row.name);
      for (std::size_t i = 0; i < a.size(); ++i) s += (i ? ", " : "(") + a[i].s;
      return Value{s + ")", Bond::word};
    }
  }
};

std::vector<std::string> names_of(std::string_view arguments) {
  std::vector<std::string> r;
  for (std::size_t at = 0; at < arguments.size(); at = arguments.find_first_not_of(", ", at + r.back().size())) r.emplace_back(arguments.substr(at, arguments.find(',', at) - at));
  return r;
}

template <class Fn> std::string derivative() {
  if constexpr (!scalar::Differentiable<Fn>) return "none: " + std::string(Fn::no_derivative) + ".";
  else {
    const auto names = names_of(Fn::row.arguments());
    Texts d;
    const auto slopes = [&]<std::size_t... I>(std::index_sequence<I...>) { return scalar::partials<Fn>(d, Text{names[I], Bond::word}...); }(std::make_index_sequence<Fn::row.arity>{});
    std::string sum;
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      auto slope = slopes[i];
      if (slope.s == "0") continue;
      const bool minus = slope.s[0] == '-' && slope.bond >= Bond::product;
      if (minus) slope.s.erase(0, 1);
      if (slope.s.find(" / ") != std::string::npos) slope = {within(slope, Bond::sign), Bond::word};
      sum += sum.empty() ? (minus ? "-" : "") : minus ? " - " : " + ";
      sum += (slope.s == "1" ? "" : within(slope, Bond::product) + " * ") + names[i] + "'";
    }
    return sum.empty() ? "r' = 0." : "r' = " + sum + ".";
  }
}

}  // namespace

std::string derivative_of(FnId fn) {
  static const auto all = [] {
    std::vector<std::string> r;
    AllFns::each([&]<class Fn>() { r.push_back(derivative<Fn>()); });
    return r;
  }();
  return all[fn];
}

}  // namespace plumb::spec

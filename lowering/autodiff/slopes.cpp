#include "lowering/autodiff/slopes.h"

#include <numbers>

#include "ir/scalar/slopes.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/op_table.h"

namespace plumb::lowering::autodiff {
namespace {

/// The words of formulas, as operations. Numbers are computed with as they are, each step rounded to the dtype; x·1 is x.
struct GraphWords {
  using Value = Slope;
  struct Condition {
    ValueId id = -1;
    std::optional<bool> known;
  };
  Builder& b;

  ValueId built(const Slope& s) const { return s.id >= 0 ? s.id : b.splat_like(s.like, *s.number); }
  Slope made(ValueId id) const { return {id, id, number_of(b.function(), id)}; }
  Slope number(const Slope& like, double value) const {
    const auto l = ir::scalar_literal(b.type(like.like).dtype, value);
    return {-1, like.like, load_element(l.dtype(), l.raw(), 0)};
  }

  Value constant_like(const Value& x, double c) const { return number(x, c); }
  template <class Fn> Value apply(Fn, const Value& x) const {
    if constexpr (std::same_as<Fn, scalar::Neg>)
      if (x.number) return number(x, -*x.number);
    return made(b.op(Fn::row.name, {built(x)}));
  }
  template <class Fn> requires(Fn::row.gives == Gives::same) Value apply(Fn, const Value& x, const Value& y) const {
    constexpr bool add = std::same_as<Fn, scalar::Add>, sub = std::same_as<Fn, scalar::Sub>, mul = std::same_as<Fn, scalar::Mul>, div = std::same_as<Fn, scalar::Div>;
    if (mul && x.number == 1) return y;
    if ((mul || std::same_as<Fn, scalar::Pow>) && y.number == 1) return x;
    if constexpr (add || sub || mul || div)
      if (x.number && y.number) return number(x, add ? *x.number + *y.number : sub ? *x.number - *y.number : mul ? *x.number * *y.number : *x.number / *y.number);
    return made(b.op(Fn::row.name, {built(x), built(y)}));
  }
  template <class Fn> requires(Fn::row.gives == Gives::boolean) Condition apply(Fn, const Value& x, const Value& y) const {
    if (x.number && y.number) return {-1, std::same_as<Fn, scalar::Eq> ? *x.number == *y.number : std::same_as<Fn, scalar::Lt> ? *x.number < *y.number : *x.number >= *y.number};
    return {b.op(Fn::row.name, {built(x), built(y)}), {}};
  }
  Condition apply(scalar::And, const Condition& x, const Condition& y) const {
    if (x.known) return *x.known ? y : x;
    if (y.known) return *y.known ? x : y;
    return {b.op("and", {x.id, y.id}), {}};
  }
  Value select(const Condition& c, const Value& yes, const Value& no) const {
    if (c.known) return *c.known ? yes : no;
    if (yes.number && yes.number == no.number) return yes;
    return made(b.op("select", {c.id, built(yes), built(no)}));
  }
};

template <class Fn> std::vector<Slope> slopes_of(Builder& b, std::span<const ValueId> in) {
  GraphWords d{b};
  const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) { return scalar::partials<Fn>(d, d.made(in[I])...); }(std::make_index_sequence<Fn::row.arity>{});
  return {all.begin(), all.end()};
}

}  // namespace

std::optional<double> number_of(const ir::Function& f, ValueId v) {
  for (;;) {
    const auto at = f.value(v).node;
    if (at < 0) return {};
    const auto& n = f.nodes[static_cast<std::size_t>(at)];
    const auto op = ir::name(n);
    if (op == "constant") {
      const auto& l = n.attrs.get<ir::Literal>("value");
      return is_float(l.dtype()) && l.elements() == 1 ? std::optional(load_element(l.dtype(), l.raw(), 0)) : std::nullopt;
    }
    if (op != "broadcast" && op != "reshape") return {};
    v = n.operands[0];
  }
}

std::vector<Slope> slopes(Builder& b, FnId fn, std::span<const ValueId> operands) {
  std::vector<Slope> r;
  AllFns::each([&]<class Fn>() {
    if (fn_id<Fn> != fn) return;
    if constexpr (scalar::Differentiable<Fn>) r = slopes_of<Fn>(b, operands);
    else fail_input(std::string(Fn::row.name) + " has no derivative: " + std::string(Fn::no_derivative), b.where());
  });
  return r;
}

ValueId scaled(Builder& b, ValueId g, const Slope& slope, bool guarded) {
  if (slope.number == 0) return -1;
  if (slope.number == 1) return g;
  if (slope.number == -1) return b.op("neg", {g});
  const auto s = slope.id >= 0 ? slope.id : b.splat_like(g, *slope.number);
  if (number_of(b.function(), g) == 1) return s;
  const auto product = b.op("mul", {g, s});
  return guarded && !slope.number ? b.op("select", {b.op("eq", {g, b.splat_like(g, 0)}), g, product}) : product;
}

}  // namespace plumb::lowering::autodiff

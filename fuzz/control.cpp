#include "fuzz/internal/draws.h"
#include "ir/tensor/op_table.h"

namespace plumb::fuzz {
namespace {

using ir::Builder;
using ir::Type;
using ir::ValueId;
using Values = std::vector<ValueId>;

constexpr std::int64_t most_passes = 8;

/// if, while and scan over x. Their functions keep the types of what they change.
class Control {
 public:
  Control(const Draws& d, ValueId x) : d_(d), x_(x), t_(d.b.type(x)) {}

  Values any() {
    if (t_.elements() > d_.most / most_passes) return {};
    switch (d_.choose(3)) {
      case 0: return branch();
      case 1: return loop();
      default: return slices();
    }
  }

 private:
  Values branch() {
    const Values in{d_.like({DType::boolean, {}}), x_, d_.like(t_)};
    ir::AttrMap a;
    for (const char* which : {"then", "else"})
      a.set(which, function(which, {t_, t_}, [&](Builder& b, const Values& p) { return Values{changed(b, p[d_.choose(2)], p), changed(b, p[0], p)}; }));
    return d_.b.add_typed(ir::op("if"), in, std::move(a), std::vector<Type>{t_, t_});
  }

  Values loop() {
    const Type number{DType::i64, {}};
    const auto passes = static_cast<double>(d_.choose(4));
    const Values in{d_.b.scalar(DType::i64, 0), x_};
    ir::AttrMap a;
    a.set("cond", function("cond", {number, t_}, [&](Builder& b, const Values& p) { return Values{b.op("lt", {p[0], b.scalar(DType::i64, passes)})}; }));
    a.set("body", function("body", {number, t_}, [&](Builder& b, const Values& p) { return Values{b.op("add", {p[0], b.scalar(DType::i64, 1)}), changed(b, p[1], p)}; }));
    return d_.b.add_typed(ir::op("while"), in, std::move(a), std::vector<Type>{number, t_});
  }

  Values slices() {
    if (t_.rank() == 0 || t_.shape[0].size() > most_passes) return {};
    const Type slice{t_.dtype, ir::Shape(t_.shape.begin() + 1, t_.shape.end())};
    const auto carries = static_cast<std::int64_t>(d_.choose(3));
    Values in;
    std::vector<Type> of_body, results;
    for (std::int64_t k = 0; k < carries; ++k) in.push_back(d_.like(slice)), of_body.push_back(slice), results.push_back(slice);
    in.push_back(x_), of_body.push_back(slice), results.push_back(t_);
    ir::AttrMap a;
    a.set("body", function("step", of_body, [&](Builder& b, const Values& p) {
      Values r;
      for (std::size_t k = 0; k < p.size(); ++k) r.push_back(changed(b, p[d_.choose(p.size())], p));
      return r;
    }));
    a.set("carries", carries), a.set("reverse", d_.choose(2) == 1);
    return d_.b.add_typed(ir::op("scan"), in, std::move(a), results);
  }

  template <class Body> std::string function(const char* what, const std::vector<Type>& in, Body body) {
    ir::Function f;
    f.name = what + std::to_string(d_.called.size());
    const auto name = f.name;
    Builder b(f);
    Values params;
    for (const auto& t : in) params.push_back(b.param(t, "p" + std::to_string(params.size())));
    b.results(body(b, params));
    d_.called.push_back(std::move(f));
    return name;
  }

  /// x after up to three operations that keep its type; other operands are parameters of that type, and numbers.
  ValueId changed(Builder& b, ValueId x, const Values& params) {
    for (auto steps = d_.choose(4); steps > 0; --steps) x = step(b, x, params);
    return x;
  }
  ValueId step(Builder& b, ValueId x, const Values& params) {
    const Type t = b.type(x);
    if (t.rank() > 0 && d_.choose(4) == 0) {
      static constexpr const char* along_an_axis[] = {"cumsum", "cummax", "softmax", "reverse"};
      const auto which = d_.choose(4);
      auto a = draw_axis(d_.choose, t.rank());
      if (which == 3) a = {}, a.set("axes", draw_axes(d_.choose, t.rank()));
      return kept(b, along_an_axis[which], {x}, std::move(a));
    }
    const auto fn = static_cast<FnId>(d_.choose(AllFns::rows.size()));
    Values in{x};
    while (static_cast<int>(in.size()) < plumb::row(fn).arity) in.push_back(other(b, t, params));
    return kept(b, plumb::row(fn).name, std::move(in), {});
  }
  ValueId other(Builder& b, const Type& t, const Values& params) {
    const auto p = params[d_.choose(params.size())];
    return b.type(p) == t ? p : b.broadcast_to(b.convert(b.scalar(DType::i64, static_cast<double>(d_.choose(4))), t.dtype), t.shape);
  }
  /// The operation, where its rule takes the operands and keeps their type; else its first operand.
  ValueId kept(Builder& b, std::string_view name, Values in, ir::AttrMap a) {
    auto complete = a;
    if (ir::complete_attrs(ir::op(name), complete)) return in[0];
    std::vector<Type> types;
    for (auto v : in) types.push_back(b.type(v));
    const auto results = ir::infer(ir::op(name), types, complete);
    const auto* r = std::get_if<std::vector<Type>>(&results);
    return r && r->size() == 1 && (*r)[0] == types[0] ? b.op(name, in, std::move(a)) : in[0];
  }

  const Draws& d_;
  ValueId x_;
  Type t_;
};

}  // namespace

Values draw_control(const Draws& d, ValueId x) { return Control(d, x).any(); }

}  // namespace plumb::fuzz

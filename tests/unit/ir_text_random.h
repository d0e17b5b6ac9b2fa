// Random modules over the op table, for round trips: operations are drawn blindly and kept when their shape rule takes them.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "ir/scalar/storage.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"

namespace plumb::ir::testing {

class RandomModule {
 public:
  explicit RandomModule(std::uint64_t seed) : random_(seed) {}

  Module module() {
    Module m;
    m.functions.push_back(function("main"));
    for (int i = below(3); i > 0; --i) m.functions.push_back(function("f" + std::to_string(i)));
    if (chance(3)) add_control(m);
    return m;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }

  Dim dim() { return chance(6) ? Dim::named(chance(2) ? "B" : "N") : Dim(below(5)); }
  Shape shape() {
    Shape s;
    for (int d = below(4); d > 0; --d) s.push_back(dim());
    return s;
  }
  DType dtype() { return static_cast<DType>(below(static_cast<int>(dtype_rows.size()))); }

  /// Bit patterns at random, so NaNs of every kind; or few values, so splats and plain decimals.
  Literal literal(Type t) {
    for (auto& d : t.shape)
      if (d.is_symbol()) d = 2;
    if (chance(8)) t.shape.push_back(100);
    Literal l(t);
    const int style = below(4);
    for (std::int64_t i = 0; i < l.elements(); ++i) {
      if (style == 0) store_element(t.dtype, l.mutable_raw(), i, below(7) - 3);
      else if (style == 1) store_element(t.dtype, l.mutable_raw(), i, 0.1);
      else
        for (int b = 0; b < byte_size(t.dtype); ++b) l.mutable_data<std::uint8_t>()[i * byte_size(t.dtype) + b] = static_cast<std::uint8_t>(random_());
    }
    return l;
  }

  double real() {
    static constexpr std::array values{0.0, -0.0, 1e-5, 0.1, -1e300, 5e-324, HUGE_VAL, -HUGE_VAL};
    return chance(8) ? std::numeric_limits<double>::quiet_NaN() : values[static_cast<std::size_t>(below(values.size()))];
  }

  Ints ints(std::size_t rank) {
    Ints v;
    const auto kind = below(4);
    for (std::size_t i = 0; i < (kind == 0 ? static_cast<std::size_t>(below(4)) : rank); ++i) v.push_back(kind == 1 ? static_cast<std::int64_t>(i) : kind == 2 ? 1 : below(4) - (chance(8) ? 2 : 0));
    return v;
  }

  AttrValue attribute(const AttrSpec& spec, const Type& operand) {
    switch (spec.kind) {
      case AttrKind::boolean: return chance(2);
      case AttrKind::integer: return std::int64_t{below(3)};
      case AttrKind::real: return real();
      case AttrKind::text: return std::string(chance(2) ? "word" : "a \"quoted\"\n text");
      case AttrKind::ints: return ints(operand.rank());
      case AttrKind::reals: return chance(2) ? Reals{} : Reals{real(), real()};
      case AttrKind::shape: return chance(2) ? operand.shape : shape();
      case AttrKind::dtype: return dtype();
      case AttrKind::literal: return literal({dtype(), shape()});
    }
    return false;
  }

  std::vector<ValueId> pick_operands(const Function& f, std::size_t count) {
    std::vector<ValueId> v;
    const auto any = [&] { return below(static_cast<int>(f.values.size())); };
    for (std::size_t i = 0; i < count; ++i) {
      auto id = any();
      // Most rules want operands alike.
      for (int tries = 0; i > 0 && !chance(4) && tries < 20 && f.type(id) != f.type(v[0]); ++tries) id = any();
      v.push_back(id);
    }
    // One value in all places but the first, as rules with several parameters of one type want.
    if (count > 2 && chance(2)) std::fill(v.begin() + 2, v.end(), v[1]);
    return v;
  }

  void add_node(Function& f, Builder& b) {
    const auto code = static_cast<OpCode>(below(static_cast<int>(op_count())));
    const auto& r = row(code);
    if (r.op_class == OpClass::control) return;
    std::size_t count = r.operands.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(r.operands.begin(), r.operands.end(), ','));
    if (r.operands.ends_with("...")) count += static_cast<std::size_t>(below(3));
    for (int tries = 0; tries < 12; ++tries) {
      const auto operands = pick_operands(f, count);
      AttrMap attrs;
      for (const auto& spec : attr_specs(code))
        if (spec.fallback.empty() || chance(2)) attrs.set(spec.name, attribute(spec, operands.empty() ? Type{} : f.type(operands[0])));
      try {
        const auto results = b.add(r.name, operands, attrs);
        for (auto v : results) rename(f, v);
        return;
      } catch (const Error&) {
      }
    }
  }

  void rename(Function& f, ValueId v) {
    static constexpr std::array<const char*, 4> bases{"v", "layer/", "x.y-", "\"q\"\\"};
    if (chance(3)) f.values[static_cast<std::size_t>(v)].name = bases[static_cast<std::size_t>(below(4))] + std::to_string(v);
  }

  Function function(const std::string& name) {
    Function f;
    f.name = name;
    Builder b(f);
    for (int i = 1 + below(4); i > 0; --i) {
      const Type t{dtype(), shape()};
      b.param(t);
      if (t.rank() > 1 && chance(2)) b.param({t.dtype, {t.shape[1]}});
    }
    if (chance(4)) b.param({DType::u64, {2}});   // a key, as random numbers take
    for (int i = below(30); i > 0; --i) add_node(f, b);
    std::vector<ValueId> results;
    for (int i = below(3); i > 0; --i) results.push_back(below(static_cast<int>(f.values.size())));
    b.results(results);
    return f;
  }

  /// A while, an if and a scan over values of main: their functions are made to fit.
  void add_control(Module& m) {
    auto& main = m.functions[0];
    const auto operands = pick_operands(main, static_cast<std::size_t>(below(3)));
    Function body, cond;
    body.name = "body of/while";
    cond.name = "cond";
    Builder bb(body), cb(cond), mb(main);
    for (auto v : operands) {
      bb.param(main.type(v));
      cb.param(main.type(v));
    }
    bb.results(body.params);
    const ValueId flag[] = {cb.scalar(DType::boolean, 0)};
    cb.results(flag);
    AttrMap a;
    a.set("cond", cond.name);
    a.set("body", body.name);
    mb.add("while", operands, a);
    const ValueId condition = mb.scalar(DType::boolean, 1);
    std::vector<ValueId> with_condition{condition};
    with_condition.insert(with_condition.end(), operands.begin(), operands.end());
    std::vector<Type> types;
    for (auto v : operands) types.push_back(main.type(v));
    AttrMap branches;
    branches.set("then", body.name);
    branches.set("else", body.name);
    mb.add_typed(op("if"), with_condition, branches, types);
    add_scan(m, mb);
    m.functions.push_back(body);
    m.functions.push_back(cond);
  }

  /// A scan that carries nothing and gives what it scans.
  void add_scan(Module& m, Builder& mb) {
    const auto& main = mb.function();
    for (const auto v : pick_operands(main, static_cast<std::size_t>(below(3)))) {
      const Type& whole = main.type(v);
      if (whole.rank() == 0) continue;
      const Type slice{whole.dtype, {whole.shape.begin() + 1, whole.shape.end()}};
      Function body;
      body.name = "scan " + std::to_string(m.functions.size());
      Builder b(body);
      const ValueId same[] = {b.param(slice)};
      b.results(same);
      AttrMap a;
      a.set("body", body.name);
      a.set("carries", std::int64_t{0});
      a.set("reverse", chance(2));
      const ValueId operands[] = {v};
      const Type types[] = {whole};
      mb.add_typed(op("scan"), operands, a, types);
      m.functions.push_back(body);
      return;
    }
  }

  std::mt19937_64 random_;
};

}  // namespace plumb::ir::testing

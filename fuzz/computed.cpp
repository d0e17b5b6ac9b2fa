#include <algorithm>

#include "fuzz/internal/draws.h"
#include "ir/tensor/complex_functions.h"
#include "ir/tensor/op_table.h"

namespace plumb::fuzz {
namespace {

using ir::Type;
using ir::ValueId;

/// Operations that compute: elementwise ones, conversions, reductions, scans, orders, contractions, choices, random numbers.
class Computing {
 public:
  Computing(const Draws& d, ValueId x) : d_(d), x_(x), t_(d.b.type(x)) {}

  std::vector<ValueId> any() {
    switch (d_.choose(10)) {
      case 0: convert(); break;
      case 1: reduce(); break;
      case 2: contract(); break;
      case 3: choice(); break;
      case 4: ordered(); break;
      case 5: random(); break;
      default: elementwise();
    }
    return out_;
  }

 private:
  void elementwise() {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto fn = static_cast<FnId>(d_.choose(AllFns::rows.size()));
      if (!takes(fn, t_.dtype) && !(is_complex(t_.dtype) && ir::takes_complex(fn))) continue;
      std::vector<ValueId> args{x_};
      while (static_cast<int>(args.size()) < plumb::row(fn).arity) args.push_back(d_.like(t_));
      return keep(d_.b.op(plumb::row(fn).name, args));
    }
  }

  void convert() {
    const auto to = static_cast<DType>(d_.choose(dtype_rows.size()));
    if (is_complex(t_.dtype) && !is_complex(to) && !is_bool(to)) return keep(d_.b.op(d_.choose(2) ? "real" : "imag", {x_}));
    if (is_complex(to) && t_.dtype == part_dtype(to)) return keep(d_.b.op("complex", {x_, d_.like(t_)}));
    keep(d_.b.convert(x_, to));
  }

  void reduce() {
    static constexpr const char* numeric[] = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"};
    static constexpr const char* boolean[] = {"reduce_and", "reduce_or", "reduce_max", "reduce_min", "reduce_xor"};
    static constexpr const char* complex[] = {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_sum"};
    ir::AttrMap a;
    if (d_.choose(4) == 0 && !is_complex(t_.dtype)) return window();
    a.set("axes", draw_axes(d_.choose, t_.rank()));
    if (is_integer(t_.dtype) && d_.choose(3) == 0) return keep(d_.b.op("reduce_xor", {x_}, std::move(a)));
    keep(d_.b.op(is_complex(t_.dtype) ? complex[d_.choose(4)] : is_bool(t_.dtype) ? boolean[d_.choose(5)] : numeric[d_.choose(4)], {x_}, std::move(a)));
  }

  void window() {
    static constexpr const char* names[] = {"reduce_window_max", "reduce_window_min", "reduce_window_sum", "reduce_window_prod"};
    if (t_.rank() > 3 || t_.elements() > 1024) return;
    ir::AttrMap a;
    for (const char* which : {"window", "stride", "low", "high", "dilation"}) {
      const bool padding = which[0] == 'l' || which[0] == 'h';
      ir::Ints entries;
      for (std::size_t d = 0; d < t_.rank(); ++d) entries.push_back((padding ? 0 : 1) + static_cast<std::int64_t>(d_.choose(3)));
      a.set(which, std::move(entries));
    }
    keep(d_.b.op(names[d_.choose(is_bool(t_.dtype) ? 2 : 4)], {x_}, std::move(a)));
  }

  void contract() {
    if (is_bool(t_.dtype) || t_.rank() == 0) return;
    const auto axis = d_.choose(t_.rank());
    const std::int64_t columns = draw_size(d_.choose);
    if (columns * t_.shape[axis].size() > d_.most / 4) return;
    const auto w = d_.like({t_.dtype, d_.choose(2) ? ir::Shape{t_.shape[axis], columns} : ir::Shape{columns, t_.shape[axis]}});
    ir::AttrMap a;
    const bool first = d_.b.type(w).shape[0] == t_.shape[axis];
    a.set("lhs_contract", ir::Ints{static_cast<std::int64_t>(axis)});
    a.set("rhs_contract", ir::Ints{first ? 0 : 1});
    const auto free = t_.elements() / std::max<std::int64_t>(1, t_.shape[axis].size());
    if (free * columns > d_.most) return;
    keep(d_.b.op("dot_general", {x_, w}, std::move(a)));
  }

  void choice() {
    if (d_.choose(2)) return keep(d_.b.op("select", {d_.like({DType::boolean, t_.shape}), x_, d_.like(t_)}));
    if (t_.rank() == 0) return;
    auto a = draw_axis(d_.choose, t_.rank());
    const auto n = t_.shape[static_cast<std::size_t>(a.integer("axis"))].size();
    if (n == 0) return;
    ir::Literal indices(ir::Type{DType::i64, {draw_size(d_.choose)}});
    for (std::int64_t i = 0; i < indices.elements(); ++i) indices.mutable_data<std::int64_t>()[i] = static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(n)));
    const auto out = t_.elements() / n * indices.elements();
    if (out > d_.most) return;
    keep(d_.b.op("gather", {x_, d_.b.constant(indices)}, std::move(a)));
  }

  void ordered() {
    if (t_.rank() == 0 || t_.elements() > 512) return;
    auto a = draw_axis(d_.choose, t_.rank());
    const auto n = t_.shape[static_cast<std::size_t>(a.integer("axis"))].size();
    const auto which = d_.choose(4);
    if (which == 0 && n > 0 && !is_complex(t_.dtype)) return keep(d_.b.op(d_.choose(2) ? "argmax" : "argmin", {x_}, std::move(a)));
    if (which == 1) {
      static constexpr const char* names[] = {"cummax", "cummin", "cumsum", "cumprod"};
      a.set("exclusive", d_.choose(2) == 1), a.set("reverse", d_.choose(2) == 1);
      return keep(d_.b.op(names[is_complex(t_.dtype) ? 2 : d_.choose(is_bool(t_.dtype) ? 2 : 4)], {x_}, std::move(a)));
    }
    if (which == 2) return by_value();
    const auto param = exact();
    if (param < 0) return;
    a = draw_axis(d_.choose, d_.b.type(param).rank());
    a.set("descending", d_.choose(2) == 1);
    keep(d_.b.op(d_.choose(2) ? "sort" : "argsort", {param}, std::move(a)));
  }
  /// Orders are decided only on values that are exact: a parameter that is small and has an axis, or -1.
  ValueId exact() {
    const auto& params = d_.b.function().params;
    const auto p = params[d_.choose(params.size())];
    const auto& t = d_.b.type(p);
    return t.rank() == 0 || t.elements() > 512 || is_complex(t.dtype) ? -1 : p;
  }
  void by_value() {
    const auto p = exact();
    if (p < 0) return;
    const Type t = d_.b.type(p);
    auto a = draw_axis(d_.choose, t.rank());
    const auto n = t.shape[static_cast<std::size_t>(a.integer("axis"))].size();
    switch (d_.choose(5)) {
      case 0: return drawn("nonzero", {p}, {});
      case 1: return drawn("masked_select", {p, d_.like({DType::boolean, t.shape})}, {});
      case 2: return drawn("compress", {p, d_.like({DType::boolean, {n}})}, std::move(a));
      case 3:
        a = {};
        a.set("axis", static_cast<std::int64_t>(d_.choose(t.rank() + 1)) - 1), a.set("sorted", d_.choose(2) == 1);
        return drawn("unique", {p}, std::move(a));
      default:
        a.set("k", static_cast<std::int64_t>(d_.choose(static_cast<std::uint64_t>(n) + 1))), a.set("largest", d_.choose(2) == 1);
        return drawn("top_k", {p}, std::move(a));
    }
  }
  void drawn(std::string_view name, std::vector<ValueId> in, ir::AttrMap a) {
    for (auto v : draw_made(d_, name, std::move(in), std::move(a))) keep(v);
  }

  void random() {
    if (t_.elements() > 128) return;
    const ir::Literal key = [&] {
      ir::Literal l(ir::Type{DType::u64, {2}});
      for (int k = 0; k < 2; ++k) l.mutable_data<std::uint64_t>()[k] = d_.choose(std::uint64_t{1} << 40);
      return l;
    }();
    static constexpr const char* names[] = {"random_bits", "random_uniform", "random_normal", "dropout", "bernoulli"};
    auto which = d_.choose(5);
    if (which > 2 && !is_float(t_.dtype)) which = 0;
    ir::AttrMap a;
    if (which < 3) {
      a.set("shape", t_.shape);
      a.set("dtype", which == 0 ? (d_.choose(2) ? DType::u32 : DType::u64) : is_float(t_.dtype) ? t_.dtype : DType::f32);
      return keep(d_.b.op(names[which], {d_.b.constant(key)}, std::move(a)));
    }
    const ValueId operands[] = {d_.like(t_), d_.b.constant(key)};
    keep(d_.b.add(names[which], operands, std::move(a))[0]);
  }

  void keep(ValueId v) { out_.push_back(v); }

  const Draws& d_;
  ValueId x_;
  Type t_;
  std::vector<ValueId> out_;
};

}  // namespace

std::vector<ValueId> draw_computed(const Draws& d, ValueId x) { return Computing(d, x).any(); }

}  // namespace plumb::fuzz

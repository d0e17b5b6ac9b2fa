#include "fuzz/generator.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "fuzz/internal/draws.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/builder.h"
#include "ir/tensor/complex_functions.h"
#include "ir/tensor/op_table.h"

namespace plumb::fuzz {
namespace {

using ir::Builder;
using ir::OpClass;
using ir::ValueId;

constexpr std::int64_t largest_tensor = 4096;

class Generator {
 public:
  explicit Generator(const Choose& choose) : choose_(choose) { module_.functions.emplace_back(); }

  Case run(int operations) {
    Builder b(module_.functions[0]);
    b_ = &b;
    const auto params = 1 + choose_(3);
    for (std::uint64_t k = 0; k < params; ++k) pool_.push_back(b.param(type(), "x" + std::to_string(k)));
    for (int k = 0; k < operations; ++k) step();
    std::vector<ValueId> results{pool_.back()};
    if (choose_(2)) results.push_back(pool_[choose_(pool_.size())]);
    if (results.size() == 2 && results[0] == results[1]) results.pop_back();
    b.results(results);
    Case c;
    for (auto p : module_.functions[0].params) c.inputs.push_back(literal(module_.functions[0].type(p)));
    c.module = std::move(module_);
    return c;
  }

 private:
  std::int64_t size() {
    static constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 0, 15, 16, 17, 31, 33, 1, 6, 64, 65};
    return sizes[choose_(std::size(sizes))];
  }
  ir::Type type() {
    ir::Type t{static_cast<DType>(choose_(dtype_rows.size())), {}};
    if (choose_(2)) t.dtype = DType::f32;
    const auto rank = choose_(5);
    std::int64_t n = 1;
    for (std::uint64_t d = 0; d < rank; ++d) {
      auto s = size();
      if (n * s > largest_tensor) s = 1;
      n *= std::max<std::int64_t>(s, 1);
      t.shape.push_back(s);
    }
    return t;
  }

  ir::Literal literal(const ir::Type& t) {
    if (is_complex(t.dtype)) return literal(ir::parts_type(t)).viewed_as(t);
    ir::Literal l(t);
    const auto style = choose_(4);
    for (std::int64_t i = 0; i < l.elements(); ++i) store_element(t.dtype, l.mutable_raw(), i, element(t.dtype, style));
    return l;
  }
  double element(DType t, std::uint64_t style) {
    if (is_bool(t)) return static_cast<double>(choose_(2));
    if (is_integer(t)) {
      if (style == 3) return static_cast<double>(static_cast<std::int64_t>(choose_(std::uint64_t{1} << 33)) - (std::int64_t{1} << 32));
      return static_cast<double>(choose_(7)) - (is_signed(t) ? 3 : 0);
    }
    if (style == 0) return static_cast<double>(choose_(9)) - 4;
    if (style == 1) return static_cast<double>(static_cast<int>(choose_(65)) - 32) / 8;
    if (style == 3 && choose_(4) == 0) {
      static const double special[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1e-42, -1e-42, 3e38, 1e-3, 65504, -1};
      return special[choose_(std::size(special))];
    }
    return static_cast<double>(choose_(std::uint64_t{1} << 40)) * 0x1p-38 - 2;
  }

  ValueId pick() { return choose_(3) ? pool_.back() : pool_[choose_(pool_.size())]; }
  void keep(ValueId v) {
    if (b_->type(v).elements() <= 4 * largest_tensor) pool_.push_back(v);
  }
  /// A value of this type: one that exists, or a new parameter.
  ValueId like(const ir::Type& t) {
    std::vector<ValueId> fitting;
    for (auto v : pool_)
      if (b_->type(v) == t) fitting.push_back(v);
    if (!fitting.empty() && choose_(3)) return fitting[choose_(fitting.size())];
    return b_->constant(literal(t));
  }

  void step() {
    const auto x = pick();
    const ir::Type t = b_->type(x);
    switch (choose_(18)) {
      case 0:
      case 1:
      case 2:
      case 3: return elementwise(x, t);
      case 4: return convert(x, t);
      case 5: return reduce(x, t);
      case 6:
      case 7: return view(x, t);
      case 8: return contract(x, t);
      case 9: return choice(x, t);
      case 10: return ordered(x, t);
      case 11: return indexed(x, t);
      case 12: return random(t);
      case 13: return drawn(draw_positions(draws(), x));
      default: return drawn(draw(draws(), x));
    }
  }

  Draws draws() {
    return {*b_, choose_, 4 * largest_tensor, [this](const ir::Type& t) { return like(t); }, [this](ir::Shape s, std::int64_t low, std::int64_t high) { return indices(std::move(s), low, high); }};
  }
  void drawn(const std::vector<ValueId>& results) {
    for (auto v : results) keep(v);
  }

  void elementwise(ValueId x, const ir::Type& t) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto fn = static_cast<FnId>(choose_(AllFns::rows.size()));
      if (!takes(fn, t.dtype) && !(is_complex(t.dtype) && ir::takes_complex(fn))) continue;
      std::vector<ValueId> args{x};
      while (static_cast<int>(args.size()) < plumb::row(fn).arity) args.push_back(like(t));
      return keep(b_->op(plumb::row(fn).name, args));
    }
  }

  void convert(ValueId x, const ir::Type& t) {
    const auto to = static_cast<DType>(choose_(dtype_rows.size()));
    if (is_complex(t.dtype) && !is_complex(to) && !is_bool(to)) return keep(b_->op(choose_(2) ? "real" : "imag", {x}));
    if (is_complex(to) && t.dtype == part_dtype(to)) return keep(b_->op("complex", {x, like(t)}));
    keep(b_->convert(x, to));
  }

  ir::Ints some_axes(std::size_t rank) {
    ir::Ints axes;
    for (std::size_t d = 0; d < rank; ++d)
      if (choose_(2)) axes.push_back(static_cast<std::int64_t>(d));
    return axes;
  }
  ir::AttrMap with_axis(std::size_t rank) {
    ir::AttrMap a;
    a.set("axis", static_cast<std::int64_t>(choose_(rank)));
    return a;
  }

  void reduce(ValueId x, const ir::Type& t) {
    static constexpr const char* numeric[] = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"};
    static constexpr const char* boolean[] = {"reduce_and", "reduce_or", "reduce_max", "reduce_min", "reduce_xor"};
    static constexpr const char* complex[] = {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_sum"};
    ir::AttrMap a;
    if (choose_(4) == 0 && !is_complex(t.dtype)) return window(x, t);
    a.set("axes", some_axes(t.rank()));
    if (is_integer(t.dtype) && choose_(3) == 0) return keep(b_->op("reduce_xor", {x}, std::move(a)));
    keep(b_->op(is_complex(t.dtype) ? complex[choose_(4)] : is_bool(t.dtype) ? boolean[choose_(5)] : numeric[choose_(4)], {x}, std::move(a)));
  }

  void window(ValueId x, const ir::Type& t) {
    static constexpr const char* names[] = {"reduce_window_max", "reduce_window_min", "reduce_window_sum", "reduce_window_prod"};
    if (t.rank() > 3 || t.elements() > 1024) return;
    ir::AttrMap a;
    for (const char* which : {"window", "stride", "low", "high", "dilation"}) {
      const bool padding = which[0] == 'l' || which[0] == 'h';
      ir::Ints entries;
      for (std::size_t d = 0; d < t.rank(); ++d) entries.push_back((padding ? 0 : 1) + static_cast<std::int64_t>(choose_(3)));
      a.set(which, std::move(entries));
    }
    keep(b_->op(names[choose_(is_bool(t.dtype) ? 2 : 4)], {x}, std::move(a)));
  }

  void view(ValueId x, const ir::Type& t) {
    ir::AttrMap a;
    const auto extents = t.extents();
    switch (choose_(7)) {
      case 0: {
        ir::Ints perm;
        for (std::size_t d = 0; d < t.rank(); ++d) perm.insert(perm.begin() + static_cast<std::ptrdiff_t>(choose_(d + 1)), static_cast<std::int64_t>(d));
        return keep(b_->transpose(x, perm));
      }
      case 1: {
        ir::Ints start, limit, stride;
        for (auto e : extents) {
          start.push_back(static_cast<std::int64_t>(choose_(static_cast<std::uint64_t>(e) + 1)));
          limit.push_back(start.back() + static_cast<std::int64_t>(choose_(static_cast<std::uint64_t>(e - start.back()) + 1)));
          stride.push_back(1 + static_cast<std::int64_t>(choose_(3)));
        }
        a.set("start", start), a.set("limit", limit), a.set("stride", stride);
        return keep(b_->op("slice", {x}, std::move(a)));
      }
      case 2: {
        ir::Ints low, high, interior;
        for (auto e : extents) {
          low.push_back(static_cast<std::int64_t>(choose_(4)) - 1);
          high.push_back(static_cast<std::int64_t>(choose_(4)) - 1);
          interior.push_back(choose_(4) == 0 ? 1 : 0);
          if (low.back() + high.back() + e + (e > 0 ? (e - 1) * interior.back() : 0) < 0) low.back() = high.back() = 0;
        }
        a.set("low", low), a.set("high", high), a.set("interior", interior);
        return keep(b_->op("pad", {x, like({t.dtype, {}})}, std::move(a)));
      }
      case 3:
        a.set("axes", some_axes(t.rank()));
        return keep(b_->op("reverse", {x}, std::move(a)));
      case 4: {
        ir::Shape shape = t.shape;
        if (shape.size() < 5) shape = ir::Shape{ir::Dim(1 + static_cast<std::int64_t>(choose_(3)))};
        if (shape.size() == 1)
          for (const auto& d : t.shape) shape.push_back(d);
        return keep(b_->broadcast_to(x, shape));
      }
      case 5: {
        if (t.rank() == 0) return;
        a = with_axis(t.rank());
        return keep(b_->op("concat", {x, like(t), x}, std::move(a)));
      }
      default: {
        const std::int64_t n = t.elements();
        std::int64_t first = 1;
        for (std::int64_t d = 2; d <= 8; ++d)
          if (n % d == 0 && choose_(2)) first = d;
        return keep(b_->reshape(x, n == 0 ? ir::Shape{0, 3} : ir::Shape{first, n / first}));
      }
    }
  }

  void contract(ValueId x, const ir::Type& t) {
    if (is_bool(t.dtype) || t.rank() == 0) return;
    const auto axis = choose_(t.rank());
    const std::int64_t columns = size();
    if (columns * t.shape[axis].size() > largest_tensor) return;
    const auto w = like({t.dtype, choose_(2) ? ir::Shape{t.shape[axis], columns} : ir::Shape{columns, t.shape[axis]}});
    ir::AttrMap a;
    const bool first = b_->type(w).shape[0] == t.shape[axis];
    a.set("lhs_contract", ir::Ints{static_cast<std::int64_t>(axis)});
    a.set("rhs_contract", ir::Ints{first ? 0 : 1});
    const auto free = t.elements() / std::max<std::int64_t>(1, t.shape[axis].size());
    if (free * columns > 4 * largest_tensor) return;
    keep(b_->op("dot_general", {x, w}, std::move(a)));
  }

  void choice(ValueId x, const ir::Type& t) {
    if (choose_(2)) return keep(b_->op("select", {like({DType::boolean, t.shape}), x, like(t)}));
    if (t.rank() == 0) return;
    auto a = with_axis(t.rank());
    const auto n = t.shape[static_cast<std::size_t>(a.integer("axis"))].size();
    if (n == 0) return;
    ir::Literal indices(ir::Type{DType::i64, {size()}});
    for (std::int64_t i = 0; i < indices.elements(); ++i) indices.mutable_data<std::int64_t>()[i] = static_cast<std::int64_t>(choose_(static_cast<std::uint64_t>(n)));
    const auto out = t.elements() / n * indices.elements();
    if (out > 4 * largest_tensor) return;
    keep(b_->op("gather", {x, b_->constant(indices)}, std::move(a)));
  }

  void ordered(ValueId x, const ir::Type& t) {
    if (t.rank() == 0 || t.elements() > 512) return;
    auto a = with_axis(t.rank());
    const auto n = t.shape[static_cast<std::size_t>(a.integer("axis"))].size();
    const auto which = choose_(4);
    if (which == 0 && n > 0 && !is_complex(t.dtype)) return keep(b_->op(choose_(2) ? "argmax" : "argmin", {x}, std::move(a)));
    if (which == 1) {
      static constexpr const char* names[] = {"cummax", "cummin", "cumsum", "cumprod"};
      a.set("exclusive", choose_(2) == 1), a.set("reverse", choose_(2) == 1);
      return keep(b_->op(names[is_complex(t.dtype) ? 2 : choose_(is_bool(t.dtype) ? 2 : 4)], {x}, std::move(a)));
    }
    // Sorting is decided only on values that are exact: parameters.
    const auto param = module_.functions[0].params[choose_(module_.functions[0].params.size())];
    const auto& p = b_->type(param);
    if (p.rank() == 0 || p.elements() > 512 || is_complex(p.dtype)) return;
    a = with_axis(p.rank());
    a.set("descending", choose_(2) == 1);
    keep(b_->op(choose_(2) ? "sort" : "argsort", {param}, std::move(a)));
  }

  /// Integers, each from [low, high).
  ValueId indices(ir::Shape shape, std::int64_t low, std::int64_t high) {
    ir::Literal l(ir::Type{DType::i64, std::move(shape)});
    for (std::int64_t i = 0; i < l.elements(); ++i) l.mutable_data<std::int64_t>()[i] = low + static_cast<std::int64_t>(choose_(static_cast<std::uint64_t>(high - low)));
    return b_->constant(std::move(l));
  }
  void indexed(ValueId x, const ir::Type& t) {
    if (choose_(4) == 0 && !is_complex(t.dtype)) return bits(x, t);
    if (t.rank() == 0 || t.elements() > largest_tensor) return;
    if (choose_(2)) {
      static constexpr const char* names[] = {"scatter", "scatter_max", "scatter_min", "scatter_add", "scatter_mul"};
      auto a = with_axis(t.rank());
      const auto axis = static_cast<std::size_t>(a.integer("axis"));
      const auto count = t.shape[axis].size() == 0 ? 0 : static_cast<std::int64_t>(choose_(6));
      ir::Type updates = t;
      updates.shape[axis] = count;
      const auto at = indices({count}, 0, std::max<std::int64_t>(t.shape[axis].size(), 1));
      return keep(b_->op(is_complex(t.dtype) ? names[choose_(2) * 3] : names[choose_(is_bool(t.dtype) ? 3 : 5)], {x, at, like(updates)}, std::move(a)));
    }
    ir::Ints sizes;
    for (auto e : t.extents()) sizes.push_back(static_cast<std::int64_t>(choose_(static_cast<std::uint64_t>(e) + 1)));
    const auto start = indices({static_cast<std::int64_t>(t.rank())}, -2, 9);
    if (choose_(2)) return keep(b_->op("dynamic_update_slice", {x, like({t.dtype, ir::to_shape(sizes)}), start}));
    ir::AttrMap a;
    a.set("sizes", std::move(sizes));
    keep(b_->op("dynamic_slice", {x, start}, std::move(a)));
  }
  /// A float's bits say little when it is not exact: those of parameters, and of integers.
  void bits(ValueId x, const ir::Type& t) {
    const auto& params = module_.functions[0].params;
    const auto to = static_cast<DType>(choose_(dtype_rows.size()));
    if (is_bool(t.dtype) || is_bool(to) || is_complex(to) || (is_float(t.dtype) && std::find(params.begin(), params.end(), x) == params.end())) return;
    ir::AttrMap a;
    a.set("dtype", to);
    if (byte_size(to) > byte_size(t.dtype) && (t.rank() == 0 || t.shape.back() != ir::Dim(byte_size(to) / byte_size(t.dtype)))) return;
    keep(b_->op("bitcast_convert", {x}, std::move(a)));
  }

  void random(const ir::Type& t) {
    if (t.elements() > 128) return;
    const ir::Literal key = [&] {
      ir::Literal l(ir::Type{DType::u64, {2}});
      for (int k = 0; k < 2; ++k) l.mutable_data<std::uint64_t>()[k] = choose_(std::uint64_t{1} << 40);
      return l;
    }();
    static constexpr const char* names[] = {"random_bits", "random_uniform", "random_normal", "dropout", "bernoulli"};
    auto which = choose_(5);
    if (which > 2 && !is_float(t.dtype)) which = 0;
    ir::AttrMap a;
    if (which < 3) {
      a.set("shape", t.shape);
      a.set("dtype", which == 0 ? (choose_(2) ? DType::u32 : DType::u64) : is_float(t.dtype) ? t.dtype : DType::f32);
      return keep(b_->op(names[which], {b_->constant(key)}, std::move(a)));
    }
    const ValueId operands[] = {like(t), b_->constant(key)};
    keep(b_->add(names[which], operands, std::move(a))[0]);
  }

  const Choose& choose_;
  ir::Module module_;
  Builder* b_ = nullptr;
  std::vector<ValueId> pool_;
};

}  // namespace

Case generate(const Choose& choose, int operations) { return Generator(choose).run(operations); }

Choose seeded(std::uint64_t seed) {
  auto state = std::make_shared<std::uint64_t>(seed);
  return [state](std::uint64_t bound) {  // splitmix64
    std::uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return bound ? (x ^ (x >> 31)) % bound : 0;
  };
}

}  // namespace plumb::fuzz

#include "fuzz/generator.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "fuzz/internal/draws.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/builder.h"

namespace plumb::fuzz {
namespace {

using ir::Builder;
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
    std::ranges::move(called_, std::back_inserter(module_.functions));
    c.module = std::move(module_);
    return c;
  }

 private:
  ir::Type type() {
    ir::Type t{static_cast<DType>(choose_(dtype_rows.size())), {}};
    if (choose_(2)) t.dtype = DType::f32;
    const auto rank = choose_(5);
    std::int64_t n = 1;
    for (std::uint64_t d = 0; d < rank; ++d) {
      auto s = draw_size(choose_);
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
    const auto d = draws();
    switch (choose_(20)) {
      case 0:
      case 1:
      case 2: return drawn(draw_moved(d, x));
      case 3: return drawn(draw_positions(d, x));
      case 4: return drawn(draw_factors(d, x));
      case 5: return drawn(draw_control(d, x));
      case 6:
      case 7:
      case 8:
      case 9: return drawn(draw(d, x));
      default: return drawn(draw_computed(d, x));
    }
  }

  Draws draws() {
    return {*b_, choose_, 4 * largest_tensor, [this](const ir::Type& t) { return like(t); }, [this](ir::Shape s, std::int64_t low, std::int64_t high) { return indices(std::move(s), low, high); }, called_};
  }
  void drawn(const std::vector<ValueId>& results) {
    for (auto v : results) keep(v);
  }

  /// Integers, each from [low, high).
  ValueId indices(ir::Shape shape, std::int64_t low, std::int64_t high) {
    ir::Literal l(ir::Type{DType::i64, std::move(shape)});
    for (std::int64_t i = 0; i < l.elements(); ++i) l.mutable_data<std::int64_t>()[i] = low + static_cast<std::int64_t>(choose_(static_cast<std::uint64_t>(high - low)));
    return b_->constant(std::move(l));
  }

  const Choose& choose_;
  ir::Module module_;
  std::vector<ir::Function> called_;   ///< by if, while and scan; apart, as the builder holds on to the entry
  Builder* b_ = nullptr;
  std::vector<ValueId> pool_;
};

}  // namespace

std::int64_t draw_size(const Choose& choose) {
  static constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 0, 15, 16, 17, 31, 33, 1, 6, 64, 65};
  return sizes[choose(std::size(sizes))];
}

ir::Ints draw_axes(const Choose& choose, std::size_t rank) {
  ir::Ints axes;
  for (std::size_t d = 0; d < rank; ++d)
    if (choose(2)) axes.push_back(static_cast<std::int64_t>(d));
  return axes;
}
ir::AttrMap draw_axis(const Choose& choose, std::size_t rank) {
  ir::AttrMap a;
  a.set("axis", static_cast<std::int64_t>(choose(rank)));
  return a;
}

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

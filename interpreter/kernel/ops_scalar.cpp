// Definitions of scalars. All lanes of the step are computed, masked ones too: no scalar function can fail.
#include <cmath>

#include "interpreter/kernel/internal/lanes.h"
#include "interpreter/kernel/internal/ops.h"
#include "interpreter/kernel/internal/arithmetic.h"

namespace plumb::interp::kernel {
namespace {

/// result[l] = f(x[l], …) with R the result's lane type and L the arguments'.
template <class R, class L, int Arity, class F> class Map final : public Op {
 public:
  Map(int result, std::span<const int> args) : result_(result) { std::copy(args.begin(), args.end(), args_); }
  void run(Machine& m) const override {
    R* r = m.at<R>(result_);
    const L* x = m.at<L>(args_[0]);
    const L* y = m.at<L>(args_[Arity > 1 ? 1 : 0]);
    const int n = m.lanes;
    const F f;
    if constexpr (Arity == 1)
      for (int l = 0; l < n; ++l) r[l] = f(x[l]);
    else
      for (int l = 0; l < n; ++l) r[l] = f(x[l], y[l]);
  }

 private:
  int result_, args_[2] = {0, 0};
};

template <class L> class FusedOp final : public Op {
 public:
  FusedOp(int result, std::span<const int> args) : result_(result) { std::copy(args.begin(), args.end(), args_); }
  void run(Machine& m) const override { fused_lanes(m.at<L>(result_), m.at<L>(args_[0]), m.at<L>(args_[1]), m.at<L>(args_[2]), m.lanes); }

 private:
  int result_, args_[3];
};

/// Every function of every dtype, by the reference's definition; active lanes only, for some take their time.
template <class R, class L> class AnyFn final : public Op {
 public:
  AnyFn(FnId fn, DType t, int result, std::span<const int> args) : fn_(fn), t_(t), result_(result), args_(args.begin(), args.end()) {}
  void run(Machine& m) const override {
    m.each_lane([&](int l) {
      Number a[3];
      for (std::size_t k = 0; k < args_.size(); ++k) a[k] = to_number(m.at<L>(args_[k])[l]);
      m.at<R>(result_)[l] = from_number<R>(interp::apply(fn_, t_, std::span<const Number>(a, args_.size())));
    });
  }

 private:
  FnId fn_;
  DType t_;
  int result_;
  std::vector<int> args_;
};

template <class L> OpPtr fast_apply(FnId fn, int result, std::span<const int> args) {
  using namespace scalar;
  using W = std::int64_t;
  if constexpr (!std::is_same_v<L, W>) {
    switch (fn) {
      case fn_id<Add>: return std::make_unique<Map<L, L, 2, decltype([](L x, L y) { return x + y; })>>(result, args);
      case fn_id<Sub>: return std::make_unique<Map<L, L, 2, decltype([](L x, L y) { return x - y; })>>(result, args);
      case fn_id<Mul>: return std::make_unique<Map<L, L, 2, decltype([](L x, L y) { return x * y; })>>(result, args);
      case fn_id<Div>: return std::make_unique<Map<L, L, 2, decltype([](L x, L y) { return x / y; })>>(result, args);
      case fn_id<Minimum>: return std::make_unique<Map<L, L, 2, decltype([](L x, L y) { return least(x, y); })>>(result, args);
      case fn_id<Maximum>: return std::make_unique<Map<L, L, 2, decltype([](L x, L y) { return greatest(x, y); })>>(result, args);
      case fn_id<Neg>: return std::make_unique<Map<L, L, 1, decltype([](L x) { return -x; })>>(result, args);
      case fn_id<Abs>: return std::make_unique<Map<L, L, 1, decltype([](L x) { return std::fabs(x); })>>(result, args);
      case fn_id<Sqrt>: return std::make_unique<Map<L, L, 1, decltype([](L x) { return std::sqrt(x); })>>(result, args);
      case fn_id<Fma>: return std::make_unique<FusedOp<L>>(result, args);
      case fn_id<IsNan>: return std::make_unique<Map<W, L, 1, decltype([](L x) { return W{x != x}; })>>(result, args);
      default: break;
    }
  }
  switch (fn) {
    case fn_id<Eq>: return std::make_unique<Map<W, L, 2, decltype([](L x, L y) { return W{x == y}; })>>(result, args);
    case fn_id<Ne>: return std::make_unique<Map<W, L, 2, decltype([](L x, L y) { return W{x != y}; })>>(result, args);
    case fn_id<Lt>: return std::make_unique<Map<W, L, 2, decltype([](L x, L y) { return W{x < y}; })>>(result, args);
    case fn_id<Le>: return std::make_unique<Map<W, L, 2, decltype([](L x, L y) { return W{x <= y}; })>>(result, args);
    case fn_id<Gt>: return std::make_unique<Map<W, L, 2, decltype([](L x, L y) { return W{x > y}; })>>(result, args);
    case fn_id<Ge>: return std::make_unique<Map<W, L, 2, decltype([](L x, L y) { return W{x >= y}; })>>(result, args);
    default: return nullptr;
  }
}

/// Words: those functions that keep the dtype's range by themselves, or fill all 64 bits.
OpPtr fast_word(FnId fn, DType t, int result, std::span<const int> args) {
  using namespace scalar;
  using W = std::int64_t;
  switch (fn) {
    case fn_id<And>: return std::make_unique<Map<W, W, 2, decltype([](W x, W y) { return x & y; })>>(result, args);
    case fn_id<Or>: return std::make_unique<Map<W, W, 2, decltype([](W x, W y) { return x | y; })>>(result, args);
    case fn_id<Xor>: return std::make_unique<Map<W, W, 2, decltype([](W x, W y) { return x ^ y; })>>(result, args);
    default: break;
  }
  if (is_bool(t) && fn == fn_id<Not>) return std::make_unique<Map<W, W, 1, decltype([](W x) { return x ^ 1; })>>(result, args);
  if (t != DType::i64 && t != DType::u64) return nullptr;
  switch (fn) {
    case fn_id<Add>: return std::make_unique<Map<W, W, 2, decltype([](W x, W y) { return wrap_add(x, y); })>>(result, args);
    case fn_id<Sub>: return std::make_unique<Map<W, W, 2, decltype([](W x, W y) { return wrap_add(x, wrap_mul(y, -1)); })>>(result, args);
    case fn_id<Mul>: return std::make_unique<Map<W, W, 2, decltype([](W x, W y) { return wrap_mul(x, y); })>>(result, args);
    default: return nullptr;
  }
}

class ConstantOp final : public Op {
 public:
  ConstantOp(DType t, int result, std::uint64_t bits) : t_(t), result_(result), value_(interp::load(t, &bits, 0)) {}
  void run(Machine& m) const override {
    with_lane(t_, [&](auto x) {
      using L = decltype(x);
      std::fill_n(m.at<L>(result_), m.lanes, from_number<L>(value_));
    });
  }

 private:
  DType t_;
  int result_;
  Number value_;
};

template <class To, class From> class ConvertOp final : public Op {
 public:
  ConvertOp(DType from, DType to, int result, int arg, bool plain) : from_(from), to_(to), result_(result), arg_(arg), plain_(plain) {}
  void run(Machine& m) const override {
    To* r = m.at<To>(result_);
    const From* x = m.at<From>(arg_);
    if (plain_)
      for (int l = 0; l < m.lanes; ++l) r[l] = static_cast<To>(x[l]);
    else
      m.each_lane([&](int l) { r[l] = from_number<To>(interp::convert(to_number(x[l]), from_, to_)); });
  }

 private:
  DType from_, to_;
  int result_, arg_;
  bool plain_;   ///< C++'s own conversion of lanes is the right one
};

template <class To, class From> class BitcastOp final : public Op {
 public:
  BitcastOp(DType from, DType to, int result, int arg) : from_(from), to_(to), result_(result), arg_(arg) {}
  void run(Machine& m) const override {
    To* r = m.at<To>(result_);
    const From* x = m.at<From>(arg_);
    m.each_lane([&](int l) { r[l] = from_number<To>(interp::bitcast(to_number(x[l]), from_, to_)); });
  }

 private:
  DType from_, to_;
  int result_, arg_;
};

template <class L> class SelectOp final : public Op {
 public:
  SelectOp(int result, int condition, int on_true, int on_false) : result_(result), condition_(condition), on_true_(on_true), on_false_(on_false) {}
  void run(Machine& m) const override {
    L* r = m.at<L>(result_);
    const auto* c = m.at<std::int64_t>(condition_);
    const L *x = m.at<L>(on_true_), *y = m.at<L>(on_false_);
    for (int l = 0; l < m.lanes; ++l) r[l] = c[l] ? x[l] : y[l];
  }

 private:
  int result_, condition_, on_true_, on_false_;
};

class IndexOp final : public Op {
 public:
  IndexOp(int result, Linear expr) : result_(result), expr_(std::move(expr)) {}
  void run(Machine& m) const override {
    auto* r = m.at<std::int64_t>(result_);
    const auto base = expr_.base(m);
    for (int l = 0; l < m.lanes; ++l) r[l] = expr_.at(m, base, l);
  }

 private:
  int result_;
  Linear expr_;
};

class TestOp final : public Op {
 public:
  TestOp(int result, Test test) : result_(result), test_(std::move(test)) {}
  void run(Machine& m) const override {
    auto* r = m.at<std::int64_t>(result_);
    for (int l = 0; l < m.lanes; ++l) r[l] = test_.holds(m, l);
  }

 private:
  int result_;
  Test test_;
};

class CheckIndexOp final : public Op {
 public:
  CheckIndexOp(int result, int value, std::int64_t extent, int site) : result_(result), value_(value), extent_(extent), site_(site) {}
  void run(Machine& m) const override {
    auto* r = m.at<std::int64_t>(result_);
    const auto* x = m.at<std::int64_t>(value_);
    for (int l = 0; l < m.lanes; ++l) r[l] = x[l] >= 0 && x[l] < extent_ ? x[l] : 0;
    m.each_lane([&](int l) {
      if ((x[l] < 0 || x[l] >= extent_) && !m.fault) m.fault = IndexFault{site_, x[l], extent_};
    });
  }

 private:
  int result_, value_;
  std::int64_t extent_;
  int site_;
};

class WidenOp final : public Op {
 public:
  WidenOp(DType t, int result, int arg, int lanes) : t_(t), result_(result), arg_(arg), lanes_(lanes) {}
  void run(Machine& m) const override {
    with_lane(t_, [&](auto x) {
      using L = decltype(x);
      std::fill_n(m.at<L>(result_), lanes_, *m.at<L>(arg_));
    });
  }

 private:
  DType t_;
  int result_, arg_, lanes_;
};

std::int64_t floor_quotient(std::int64_t x, std::int64_t c) { return x / c - (x % c < 0); }

class AtomOp final : public Op {
 public:
  AtomOp(AtomFn fn, int result, Linear a, Linear b, std::int64_t divisor) : fn_(fn), result_(result), divisor_(divisor), a_(std::move(a)), b_(std::move(b)) {}
  void run(Machine& m) const override {
    const auto a = a_.base(m), b = b_.base(m);
    auto* r = m.at<std::int64_t>(result_);
    if (a_.same_for_all() && b_.same_for_all()) {
      r[0] = value(a, b);
      return;
    }
    for (int l = 0; l < m.lanes; ++l) r[l] = value(a_.at(m, a, l), b_.at(m, b, l));
  }

 private:
  std::int64_t value(std::int64_t a, std::int64_t b) const {
    if (fn_ == AtomFn::bit_xor) return a ^ b;
    const auto q = floor_quotient(a, divisor_);
    return fn_ == AtomFn::floor_div ? q : wrap_add(a, wrap_mul(q, -divisor_));
  }
  AtomFn fn_;
  int result_;
  std::int64_t divisor_;
  Linear a_, b_;
};

/// From floats to a wider float, and from integers that a float or double holds: one exact or once-rounded step.
bool converts_plainly(DType from, DType to) {
  if (from == to) return true;
  if (is_float(from)) return is_float(to) && (to == DType::f64 || to == DType::f32);
  if (is_float(to)) return to == DType::f64 ? from != DType::u64 : to == DType::f32 && from != DType::u64;
  return !is_bool(to) && byte_size(to) == 8;
}

}  // namespace

OpPtr constant_op(DType t, int result, std::uint64_t bits) { return std::make_unique<ConstantOp>(t, result, bits); }

OpPtr apply_op(FnId fn, DType t, int result, std::span<const int> args) {
  OpPtr fast;
  if (t == DType::f32) fast = fast_apply<float>(fn, result, args);
  else if (t == DType::f64) fast = fast_apply<double>(fn, result, args);
  else if (!is_float(t)) fast = t == DType::u64 ? nullptr : fast_apply<std::int64_t>(fn, result, args);
  if (!fast && !is_float(t)) fast = fast_word(fn, t, result, args);
  if (fast) return fast;
  return with_lane(t, [&](auto x) -> OpPtr {
    using L = decltype(x);
    if (row(fn).gives == Gives::boolean) return std::make_unique<AnyFn<std::int64_t, L>>(fn, t, result, args);
    return std::make_unique<AnyFn<L, L>>(fn, t, result, args);
  });
}

OpPtr convert_op(DType from, DType to, int result, int arg) {
  return with_lane(from, [&](auto x) {
    return with_lane(to, [&](auto y) -> OpPtr { return std::make_unique<ConvertOp<decltype(y), decltype(x)>>(from, to, result, arg, converts_plainly(from, to)); });
  });
}

OpPtr bitcast_op(DType from, DType to, int result, int arg) {
  return with_lane(from, [&](auto x) { return with_lane(to, [&](auto y) -> OpPtr { return std::make_unique<BitcastOp<decltype(y), decltype(x)>>(from, to, result, arg); }); });
}

OpPtr select_op(DType t, int result, int condition, int on_true, int on_false) {
  return with_lane(t, [&](auto x) -> OpPtr { return std::make_unique<SelectOp<decltype(x)>>(result, condition, on_true, on_false); });
}
OpPtr index_op(int result, Linear expr) { return std::make_unique<IndexOp>(result, std::move(expr)); }
OpPtr test_op(int result, Test test) { return std::make_unique<TestOp>(result, std::move(test)); }
OpPtr check_index_op(int result, int value, std::int64_t extent, int site) { return std::make_unique<CheckIndexOp>(result, value, extent, site); }
OpPtr widen_op(DType t, int result, int arg, int lanes) { return std::make_unique<WidenOp>(t, result, arg, lanes); }
OpPtr atom_op(AtomFn fn, int result, Linear a, Linear b, std::int64_t divisor) { return std::make_unique<AtomOp>(fn, result, std::move(a), std::move(b), divisor); }

}  // namespace plumb::interp::kernel

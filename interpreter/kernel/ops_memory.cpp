// Loads, stores, combining steps, allocations.
#include "interpreter/kernel/internal/arithmetic.h"
#include "interpreter/kernel/internal/lanes.h"
#include "interpreter/kernel/internal/ops.h"

namespace plumb::interp::kernel {

void Access::outside(Machine& m, const Op& op) const {
  int lane = -1;
  m.each_lane([&](int l) {
    if (lane >= 0) return;
    for (const auto& c : checks) {
      const auto i = c.index.at(m, c.index.base(m), l);
      if (i < 0 || i >= c.extent) lane = l;
    }
  });
  Index at;
  for (const auto& i : index) at.push_back(i.at(m, i.base(m), lane));
  std::string extents;
  for (auto e : m.program().kernel.buffers[static_cast<std::size_t>(region)].extents) extents += (extents.empty() ? "" : ", ") + std::to_string(e);
  m.fail(ViolationKind::out_of_bounds, op, lane, "the buffer's extents are [" + extents + "]", region, at);
}

namespace {

/// Whether n elements from `first` on were all written since the Alloc, and none is in flight.
bool all_written(const Region& r, std::int64_t first, int n) {
  const Time* t = r.stamp.data() + first;
  bool ok = true;
  for (int l = 0; l < n; ++l) ok &= t[l] >= r.fresh && t[l] != in_flight;
  return ok;
}

template <DType D> class LoadOp final : public Op {
  using S = Stored<D>;
  using L = typename S::lane;

 public:
  LoadOp(int result, Access access, Test guard, int other, bool checked)
      : result_(result), other_(other), access_(std::move(access)), guard_(std::move(guard)), guarded_(!guard_.conditions.empty()), uniform_guard_(guard_.same_for_all()), checked_(checked) {}

  void run(Machine& m) const override {
    L* out = m.at<L>(result_);
    if (!guarded_) return load(m, out);
    const L* other = m.at<L>(other_);
    if (uniform_guard_) {
      if (guard_.holds(m)) load(m, out);
      else std::copy_n(other, m.lanes, out);
      return;
    }
    LaneId* inside = m.new_mask();
    const int n = guard_.select(m, inside, nullptr);
    if (n == m.lanes) return load(m, out);
    std::copy_n(other, m.lanes, out);
    if (n == 0) return;
    const Masked masked(m, inside, n);
    m.mask_top += static_cast<std::size_t>(n);
    load(m, out);
  }

 private:
  void load(Machine& m, L* out) const {
    const auto base = access_.locate(m, *this);
    auto& r = m.regions[static_cast<std::size_t>(access_.region)];
    if (access_.flat.same_for_all() && m.lanes > 1 && !m.mask && r.trace.empty()) {  // one element for all
      if (checked_) m.on_read(*this, r, base, 0);
      std::fill_n(out, m.lanes, S::load(r.data, base));
      return;
    }
    if (access_.contiguous() && !m.mask && r.trace.empty() && (!checked_ || all_written(r, base, m.lanes))) {
      if constexpr (S::native) std::memcpy(out, r.data + static_cast<std::size_t>(base) * sizeof(L), sizeof(L) * static_cast<std::size_t>(m.lanes));
      else
        for (int l = 0; l < m.lanes; ++l) out[l] = S::load(r.data, base + l);
      return;
    }
    m.each_lane([&](int l) {
      const auto e = access_.flat.at(m, base, l);
      if (checked_) m.on_read(*this, r, e, static_cast<LaneId>(l));
      out[l] = S::load(r.data, e);
    });
  }

  int result_, other_;
  Access access_;
  Test guard_;
  bool guarded_, uniform_guard_, checked_;
};

template <DType D> class StoreOp final : public Op {
  using S = Stored<D>;
  using L = typename S::lane;

 public:
  StoreOp(Access access, int value, bool once) : access_(std::move(access)), value_(value), once_(once) {}

  void run(Machine& m) const override {
    const L* value = m.at<L>(value_);
    const auto base = access_.locate(m, *this);
    auto& r = m.regions[static_cast<std::size_t>(access_.region)];
    if (access_.contiguous() && !m.mask && r.trace.empty() && free(r, base, m.lanes)) {
      std::fill_n(r.stamp.data() + base, m.lanes, m.now);
      if constexpr (S::native) std::memcpy(r.data + static_cast<std::size_t>(base) * sizeof(L), value, sizeof(L) * static_cast<std::size_t>(m.lanes));
      else
        for (int l = 0; l < m.lanes; ++l) S::store(r.data, base + l, value[l]);
      return;
    }
    m.each_lane([&](int l) {
      const auto e = access_.flat.at(m, base, l);
      m.on_write(*this, r, e, static_cast<LaneId>(l), once_);
      S::store(r.data, e, value[l]);
    });
  }

 private:
  bool free(const Region& r, std::int64_t first, int n) const {
    const Time* t = r.stamp.data() + first;
    bool ok = true;
    for (int l = 0; l < n; ++l) ok &= t[l] != in_flight && !(once_ && t[l] >= r.fresh);
    return ok;
  }
  Access access_;
  int value_;
  bool once_;
};

/// buffer[index] = fn(buffer[index], a): the combining functions as they are on lanes.
template <class L, class F> class LaneCombine {
 public:
  L operator()(L old, L a, L) const { return F{}(old, a); }
  static void lanes(L* r, const L* a, const L*, int n) {
    for (int l = 0; l < n; ++l) r[l] = F{}(r[l], a[l]);
  }
};
template <class L> struct LaneFused {
  L operator()(L old, L a, L b) const { return std::fma(a, b, old); }
  static void lanes(L* r, const L* a, const L* b, int n) { fused_lanes(r, a, b, r, n); }
};

/// Any function, by the reference's definition.
struct AnyCombine {
  FnId fn;
  DType t;
  template <class L> L operator()(L old, L a, L b) const {
    const bool fused = fn == fn_id<scalar::Fma>;
    const Number args[3] = {to_number(fused ? a : old), to_number(fused ? b : a), to_number(old)};
    return from_number<L>(interp::apply(fn, t, std::span<const Number>(args, fused ? 3 : 2)));
  }
};

template <DType D, class F> class CombineOp final : public Op {
  using S = Stored<D>;
  using L = typename S::lane;

 public:
  CombineOp(Access access, F f, int a, int b) : access_(std::move(access)), f_(f), a_(a), b_(b < 0 ? a : b) {}

  void run(Machine& m) const override {
    const L *a = m.at<L>(a_), *b = m.at<L>(b_);
    const auto base = access_.locate(m, *this);
    auto& r = m.regions[static_cast<std::size_t>(access_.region)];
    if constexpr (S::native && requires { F::lanes(nullptr, a, b, 0); }) {
      if (access_.contiguous() && !m.mask && r.trace.empty() && all_written(r, base, m.lanes)) {
        F::lanes(reinterpret_cast<L*>(r.data) + base, a, b, m.lanes);
        return;
      }
    }
    m.each_lane([&](int l) {
      const auto e = access_.flat.at(m, base, l);
      const auto me = static_cast<LaneId>(l);
      m.on_read(*this, r, e, me);
      m.on_write(*this, r, e, me, false);
      S::store(r.data, e, f_(S::load(r.data, e), a[l], b[l]));
    });
  }

 private:
  Access access_;
  F f_;
  int a_, b_;
};

class AllocOp final : public Op {
 public:
  explicit AllocOp(int region) : region_(region) {}
  void run(Machine& m) const override {
    auto& r = m.regions[static_cast<std::size_t>(region_)];
    r.fresh = m.tick();
  }

 private:
  int region_;
};

template <DType D> OpPtr lane_combine(Access access, FnId fn, int a, int b) {
  using namespace scalar;
  using L = typename Stored<D>::lane;
  const auto make = [&](auto f) -> OpPtr { return std::make_unique<CombineOp<D, decltype(f)>>(std::move(access), f, a, b); };
  switch (fn) {
    case fn_id<Add>: return make(LaneCombine<L, decltype([](L x, L y) { return x + y; })>{});
    case fn_id<Mul>: return make(LaneCombine<L, decltype([](L x, L y) { return x * y; })>{});
    case fn_id<Minimum>: return make(LaneCombine<L, decltype([](L x, L y) { return least(x, y); })>{});
    case fn_id<Maximum>: return make(LaneCombine<L, decltype([](L x, L y) { return greatest(x, y); })>{});
    case fn_id<Fma>: return make(LaneFused<L>{});
    default: return make(AnyCombine{fn, D});
  }
}

}  // namespace

OpPtr load_op(DType t, int result, Access access, Test guard, int other, bool checked) {
  return with_dtype(t, [&](auto d) -> OpPtr { return std::make_unique<LoadOp<decltype(d)::value>>(result, std::move(access), std::move(guard), other, checked); });
}
OpPtr store_op(DType t, Access access, int value, bool once) {
  return with_dtype(t, [&](auto d) -> OpPtr { return std::make_unique<StoreOp<decltype(d)::value>>(std::move(access), value, once); });
}
OpPtr combine_op(DType t, Access access, FnId fn, int a, int b) {
  return with_dtype(t, [&](auto d) -> OpPtr {
    constexpr DType D = decltype(d)::value;
    if constexpr (D == DType::f32 || D == DType::f64) return lane_combine<D>(std::move(access), fn, a, b);
    else return std::make_unique<CombineOp<D, AnyCombine>>(std::move(access), AnyCombine{fn, D}, a, b);
  });
}
OpPtr alloc_op(int region) { return std::make_unique<AllocOp>(region); }

}  // namespace plumb::interp::kernel

// Tile operations: executed once a warp (or warpgroup), which must be there whole. Shared memory and outputs see them as
// accesses by the whole warp.
#include <cmath>

#include "interpreter/kernel/internal/arithmetic.h"
#include "interpreter/kernel/internal/lanes.h"
#include "interpreter/kernel/internal/ops.h"
#include "ir/scalar/storage.h"
#include "ir/support/index_space.h"

namespace plumb::interp::kernel {
namespace {

/// What tile operations share: whose turn it is, and where the tile lies.
class TileOp : public Op {
 public:
  explicit TileOp(int fragment) : fragment_(fragment) {}

 protected:
  Region& fragment(Machine& m) const { return m.regions[static_cast<std::size_t>(fragment_)]; }
  /// Calls f(instance, first lane) for each warp, or warpgroup for fragments that are one's.
  template <class F> void each_owner(Machine& m, F f) const {
    const int owners = static_cast<int>(fragment(m).instances), whole = fragment(m).owner_lanes;
    std::vector<int> here(static_cast<std::size_t>(owners), 0);
    m.each_lane([&](int l) { ++here[static_cast<std::size_t>(l / whole)]; });
    for (int o = 0; o < owners; ++o) {
      const int n = here[static_cast<std::size_t>(o)], all = std::min(whole, m.lanes - o * whole);
      if (n == 0) continue;
      if (n < all) m.fail(ViolationKind::divergence, *this, o * whole, std::to_string(n) + " of the " + std::to_string(all) + " threads reach this tile operation");
      f(o, o * whole);
    }
  }
  LaneId whole(const Machine& m, int lane) const { return m.threads ? static_cast<LaneId>(whole_warp | (lane / m.warp)) : LaneId{0}; }
  /// The tile's first element, the same for all threads of the warp.
  Index origin(Machine& m, const std::vector<Linear>& index, int first, int region) const {
    const auto value = [&](int l) {
      Index r;
      for (const auto& i : index) r.push_back(i.at(m, i.base(m), l));
      return r;
    };
    const Index r = value(first);
    for (int l = first; l < std::min(m.lanes, first + m.warp); ++l)
      if (const auto other = value(l); !(other == r)) m.fail(ViolationKind::not_uniform, *this, l, "threads of one warp name different places for the tile", region, other);
    return r;
  }
  /// Element (i, j) of the tile at `at` in a buffer, along its last two axes.
  std::int64_t element(Machine& m, int region, Index at, std::int64_t i, std::int64_t j, int lane) const {
    const auto& extents = m.program().kernel.buffers[static_cast<std::size_t>(region)].extents;
    at[at.size() - 2] += i;
    at[at.size() - 1] += j;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (at[d] < 0 || at[d] >= extents[d]) m.fail(ViolationKind::out_of_bounds, *this, lane, "the tile reaches outside the buffer", region, at);
    return linearize(at, extents);
  }
  const Extents& shape(const Machine& m) const { return m.program().kernel.buffers[static_cast<std::size_t>(fragment_)].extents; }
  static std::int64_t at(const Region& r, int owner, std::int64_t e) { return e * r.instances + owner; }
  void read(Machine& m, Region& r, int owner, int lane) const {
    for (std::int64_t e = 0; e < r.elements; ++e) m.on_read(*this, r, at(r, owner, e), whole(m, lane));
  }

 private:
  int fragment_;
};

template <DType D> class TileFillOp final : public TileOp {
 public:
  TileFillOp(int fragment, int value) : TileOp(fragment), value_(value) {}
  void run(Machine& m) const override {
    using S = Stored<D>;
    auto& r = fragment(m);
    each_owner(m, [&](int owner, int lane) {
      for (std::int64_t e = 0; e < r.elements; ++e) {
        r.stamp[static_cast<std::size_t>(at(r, owner, e))] = m.now;
        S::store(r.data, at(r, owner, e), m.at<typename S::lane>(value_)[lane]);
      }
    });
  }

 private:
  int value_;
};

template <DType D> class TileLoadOp final : public TileOp {
 public:
  TileLoadOp(int fragment, int from, std::vector<Linear> index, bool transposed) : TileOp(fragment), from_(from), index_(std::move(index)), transposed_(transposed) {}
  void run(Machine& m) const override {
    using S = Stored<D>;
    auto &r = fragment(m), &from = m.regions[static_cast<std::size_t>(from_)];
    each_owner(m, [&](int owner, int lane) {
      const auto start = origin(m, index_, lane, from_);
      const auto rows = shape(m)[0], columns = shape(m)[1];
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto e = element(m, from_, start, transposed_ ? j : i, transposed_ ? i : j, lane);
          if (!from.stamp.empty()) m.on_read(*this, from, e, whole(m, lane));
          const auto to = at(r, owner, i * columns + j);
          S::store(r.data, to, S::load(from.data, e));
          r.stamp[static_cast<std::size_t>(to)] = m.now;
        }
    });
  }

 private:
  int from_;
  std::vector<Linear> index_;
  bool transposed_;
};

template <DType D> class TileStoreOp final : public TileOp {
 public:
  TileStoreOp(int to, std::vector<Linear> index, int fragment, bool once) : TileOp(fragment), to_(to), index_(std::move(index)), once_(once) {}
  void run(Machine& m) const override {
    using S = Stored<D>;
    auto &r = fragment(m), &to = m.regions[static_cast<std::size_t>(to_)];
    each_owner(m, [&](int owner, int lane) {
      const auto start = origin(m, index_, lane, to_);
      read(m, r, owner, lane);
      const auto columns = shape(m)[1];
      for (std::int64_t e = 0; e < r.elements; ++e) {
        const auto place = element(m, to_, start, e / columns, e % columns, lane);
        m.on_write(*this, to, place, whole(m, lane), once_);
        S::store(to.data, place, S::load(r.data, at(r, owner, e)));
      }
    });
  }

 private:
  int to_;
  std::vector<Linear> index_;
  bool once_;
};

/// x·y + z, exact, then toward zero into a format of at most 24 bits: first into a double, then from there.
double fused_toward_zero(DType t, double x, double y, double z) {
  const double p = x * y, s = p + z;   // the product of factors of at most 24 bits is exact
  if (!std::isfinite(s)) return s;
  const double v = s - p, error = (p - (s - v)) + (z - v);
  const double cut = error != 0 && (error > 0) != (s > 0) ? std::nextafter(s, 0) : s;   // the exact sum is nearer to zero than s
  const double r = round_to(t, cut);
  if (!(std::fabs(r) > std::fabs(cut))) return r;
  const double below = decode_float(t, encode_float(t, std::fabs(r)) - 1);
  return std::copysign(below, r);
}

class TileMmaOp final : public TileOp {
 public:
  explicit TileMmaOp(const MmaPlan& p) : TileOp(p.d), p_(p) {}
  void run(Machine& m) const override {
    auto &d = fragment(m), &a = m.regions[static_cast<std::size_t>(p_.a)], &b = m.regions[static_cast<std::size_t>(p_.b)];
    each_owner(m, [&](int owner, int lane) {
      read(m, a, owner, lane);
      read(m, b, owner, lane);
      read(m, d, owner, lane);
      if (p_.accumulator == DType::f32 && p_.sum == DType::f32 && !p_.truncates && is_float(p_.factor) && p_.factor != DType::f64) return rows_of(a, b, d, owner);
      for (std::int64_t i = 0; i < p_.m; ++i)
        for (std::int64_t j = 0; j < p_.n; ++j) element_of(a, b, d, owner, i, j);
    });
  }

 private:
  std::vector<float> floats(DType t, const Region& r, int owner) const {
    std::vector<float> v;
    for (std::int64_t e = 0; e < r.elements; ++e) v.push_back(static_cast<float>(load(t, r.data, at(r, owner, e)).f));
    return v;
  }
  /// The common case, a row at a time: each element still takes its terms in order.
  void rows_of(const Region& a, const Region& b, Region& d, int owner) const {
    const auto x = floats(p_.factor, a, owner), y = floats(p_.factor, b, owner);
    auto sums = floats(p_.sum, d, owner);
    std::vector<float> same(static_cast<std::size_t>(p_.n));
    for (std::int64_t i = 0; i < p_.m; ++i)
      for (std::int64_t k = 0; k < p_.k; ++k) {
        std::fill(same.begin(), same.end(), x[static_cast<std::size_t>(i * p_.k + k)]);
        float* row = sums.data() + i * p_.n;
        fused_lanes(row, same.data(), y.data() + k * p_.n, row, static_cast<int>(p_.n));
      }
    for (std::int64_t e = 0; e < d.elements; ++e) store(p_.sum, d.data, at(d, owner, e), {.f = static_cast<double>(sums[static_cast<std::size_t>(e)])});
  }
  void element_of(const Region& a, const Region& b, Region& d, int owner, std::int64_t i, std::int64_t j) const {
    const auto place = at(d, owner, i * p_.n + j);
    Number acc = convert(load(p_.sum, d.data, place), p_.sum, p_.accumulator);
    for (std::int64_t k = 0; k < p_.k; ++k) {
      const Number x = convert(load(p_.factor, a.data, at(a, owner, i * p_.k + k)), p_.factor, p_.accumulator);
      const Number y = convert(load(p_.factor, b.data, at(b, owner, k * p_.n + j)), p_.factor, p_.accumulator);
      const Number args[] = {x, y, acc};
      acc = p_.truncates ? Number{.f = fused_toward_zero(p_.accumulator, x.f, y.f, acc.f)} : interp::apply(fn_id<scalar::Fma>, p_.accumulator, args);
    }
    store(p_.sum, d.data, place, convert(acc, p_.accumulator, p_.sum));
  }
  MmaPlan p_;
};

}  // namespace

OpPtr tile_fill_op(DType t, int fragment, int value) {
  return with_dtype(t, [&](auto d) -> OpPtr { return std::make_unique<TileFillOp<decltype(d)::value>>(fragment, value); });
}
OpPtr tile_load_op(DType t, int fragment, int from, std::vector<Linear> index, bool transposed) {
  return with_dtype(t, [&](auto d) -> OpPtr { return std::make_unique<TileLoadOp<decltype(d)::value>>(fragment, from, std::move(index), transposed); });
}
OpPtr tile_store_op(DType t, int to, std::vector<Linear> index, int fragment, bool once) {
  return with_dtype(t, [&](auto d) -> OpPtr { return std::make_unique<TileStoreOp<decltype(d)::value>>(to, std::move(index), fragment, once); });
}
OpPtr tile_mma_op(const MmaPlan& plan) {
  if (plan.truncates && (!is_float(plan.accumulator) || plan.accumulator == DType::f64)) fail_unsupported("an accumulator of " + std::string(name(plan.accumulator)) + " that truncates");
  return std::make_unique<TileMmaOp>(plan);
}

}  // namespace plumb::interp::kernel

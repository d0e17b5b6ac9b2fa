// A block's threads, in lockstep: barriers, shuffles, tile loops, async copies.
#include "interpreter/kernel/internal/lanes.h"
#include "interpreter/kernel/internal/ops.h"

namespace plumb::interp::kernel {
namespace {

int warps_of(int lanes, int warp) { return (lanes + warp - 1) / warp; }

class ThreadsOp final : public Op {
 public:
  ThreadsOp(std::vector<ThreadAxis> axes, int threads, Ops enter, Ops body) : axes_(std::move(axes)), threads_(threads), enter_(std::move(enter)), body_(std::move(body)) {}

  void run(Machine& m) const override {
    if (threads_ == 0) return;
    enter_.run(m);
    m.lanes = m.active = threads_;
    m.threads = true;
    m.nest_start = m.block_barrier = m.tick();
    const auto warps = static_cast<std::size_t>(warps_of(threads_, m.warp));
    m.warp_barrier.assign(warps, m.now);
    m.group_barrier.assign(warps / 4 + 1, m.now);
    m.open.assign(static_cast<std::size_t>(threads_), {});
    m.groups.assign(static_cast<std::size_t>(threads_), {});
    for (const auto& a : axes_)
      for (int l = 0; l < threads_; ++l) m.at<std::int64_t>(a.var)[l] = l / a.stride % a.extent;
    body_.run(m);
    nothing_in_flight(m);
    m.threads = false;
    m.lanes = m.active = 1;
  }

 private:
  static void nothing_in_flight(Machine& m) {
    const auto left = [&](const Machine::Copy& c, std::size_t lane) {
      m.fail(ViolationKind::async, *c.op, static_cast<int>(lane), "the thread ends without waiting for this copy");
    };
    for (std::size_t l = 0; l < m.open.size(); ++l) {
      for (const auto& g : m.groups[l])
        for (const auto& c : g) left(c, l);
      for (const auto& c : m.open[l]) left(c, l);
    }
  }
  std::vector<ThreadAxis> axes_;
  int threads_;
  Ops enter_, body_;
};

/// Fails unless each warp (or warpgroup) of which some thread is here is here whole; calls f(its number) for those.
template <class F> void each_group(Machine& m, const Op& op, int size, const char* what, F f) {
  if (m.active == m.lanes) {
    for (int g = 0; g * size < m.lanes; ++g) f(g);
    return;
  }
  std::vector<int> here(static_cast<std::size_t>((m.lanes + size - 1) / size), 0);
  m.each_lane([&](int l) { ++here[static_cast<std::size_t>(l / size)]; });
  for (int g = 0; g < static_cast<int>(here.size()); ++g) {
    const int n = here[static_cast<std::size_t>(g)], all = std::min(size, m.lanes - g * size);
    if (n == 0) continue;
    int first = -1;
    m.each_lane([&](int l) { first = first < 0 && l / size == g ? l : first; });
    if (n < all) m.fail(ViolationKind::divergence, op, first, std::to_string(n) + " of the " + std::to_string(all) + " threads reach this " + what);
    f(g);
  }
}

class BarrierOp final : public Op {
 public:
  explicit BarrierOp(kir::Scope scope) : scope_(scope) {}
  void run(Machine& m) const override {
    const int size = scope_ == kir::Scope::block ? m.lanes : scope_ == kir::Scope::warp ? m.warp : 4 * m.warp;
    const Time t = m.tick();
    each_group(m, *this, size, "barrier", [&](int g) {
      if (scope_ == kir::Scope::block) m.block_barrier = t;
      else (scope_ == kir::Scope::warp ? m.warp_barrier : m.group_barrier)[static_cast<std::size_t>(g)] = t;
    });
  }

 private:
  kir::Scope scope_;
};

template <class L> class ShuffleOp final : public Op {
 public:
  ShuffleOp(int result, int arg, kir::ShuffleMode mode, Linear lane) : result_(result), arg_(arg), mode_(mode), lane_(std::move(lane)) {}
  void run(Machine& m) const override {
    each_group(m, *this, m.warp, "shuffle", [](int) {});
    const L* x = m.at<L>(arg_);
    L* r = m.at<L>(result_);
    const auto base = lane_.base(m);
    m.each_lane([&](int l) { r[l] = x[source(m, l, lane_.at(m, base, l))]; });
  }

 private:
  int source(Machine& m, int l, std::int64_t by) const {
    const int first = l / m.warp * m.warp, size = std::min(m.warp, m.lanes - first), me = l - first;
    const bool moves = mode_ == kir::ShuffleMode::down || mode_ == kir::ShuffleMode::up;
    std::int64_t from = mode_ == kir::ShuffleMode::bit_xor ? me ^ by : mode_ == kir::ShuffleMode::from ? by : mode_ == kir::ShuffleMode::down ? wrap_add(me, by) : wrap_add(me, wrap_mul(by, -1));
    if (moves && by >= 0 && (from < 0 || from >= size)) from = me;
    if (from < 0 || from >= size) m.fail(ViolationKind::shuffle_lane, *this, l, "lane " + std::to_string(from) + " of a warp of " + std::to_string(size) + " is not there");
    return first + static_cast<int>(from);
  }
  int result_, arg_;
  kir::ShuffleMode mode_;
  Linear lane_;
};

class TileLoopOp final : public Op {
 public:
  TileLoopOp(std::int64_t extent, int var, Ops body) : extent_(extent), var_(var), body_(std::move(body)) {}
  void run(Machine& m) const override {
    each_group(m, *this, m.warp, "tile loop", [](int) {});
    auto* e = m.at<std::int64_t>(var_);
    for (std::int64_t first = 0; first < extent_; first += m.warp) {
      LaneId* mine = m.new_mask();
      int n = 0;
      m.each_lane([&](int l) {
        const int start = l / m.warp * m.warp, size = std::min(m.warp, m.lanes - start);
        e[l] = first + (size - 1 - (l - start));
        if (size < m.warp) m.fail(ViolationKind::divergence, *this, l, "a tile loop needs whole warps");
        if (e[l] < extent_) mine[n++] = static_cast<LaneId>(l);
      });
      const Masked masked(m, mine, n);
      m.mask_top += static_cast<std::size_t>(n);
      body_.run(m);
    }
  }

 private:
  std::int64_t extent_;
  int var_;
  Ops body_;
};

class AsyncCopyOp final : public Op {
 public:
  AsyncCopyOp(DType t, std::vector<Linear> to, int to_region, std::vector<Linear> from, int from_region, Extents tile)
      : bytes_(static_cast<std::size_t>(byte_size(t))), to_(std::move(to)), from_(std::move(from)), to_region_(to_region), from_region_(from_region), tile_(std::move(tile)) {}

  void run(Machine& m) const override {
    m.each_lane([&](int l) {
      Machine::Copy c{to_region_, from_region_, {}, {}, this, static_cast<LaneId>(l)};
      const auto to = origin(m, to_, l), from = origin(m, from_, l);
      const auto &to_extents = extents(m, to_region_), &from_extents = extents(m, from_region_);
      Index step(tile_.size(), 0);
      do {
        Index t = to, f = from;
        for (std::size_t d = 0; d < tile_.size(); ++d) t[t.size() - tile_.size() + d] += step[d], f[f.size() - tile_.size() + d] += step[d];
        if (!inside(t, to_extents)) m.fail(ViolationKind::out_of_bounds, *this, l, "an async copy ends outside its buffer", to_region_, t);
        for (std::size_t d = 0; d + tile_.size() < f.size(); ++d)
          if (f[d] < 0 || f[d] >= from_extents[d]) m.fail(ViolationKind::out_of_bounds, *this, l, "an async copy starts outside its buffer", from_region_, f);
        issue(m, c, linearize(t, to_extents), inside(f, from_extents) ? linearize(f, from_extents) : -1);
      } while (advance(step, tile_));
      m.open[static_cast<std::size_t>(l)].push_back(std::move(c));
    });
  }

  /// The elements arrive: only now are they there for the thread that waited.
  void land(Machine& m, const Machine::Copy& c) const {
    auto &to = m.regions[static_cast<std::size_t>(c.to)], &from = m.regions[static_cast<std::size_t>(c.from)];
    for (std::size_t i = 0; i < c.elements.size(); ++i) {
      const auto [t, f] = c.elements[i];
      const std::byte* seen = c.seen.data() + i * bytes_;
      if (f >= 0 && std::memcmp(from.data + static_cast<std::size_t>(f) * bytes_, seen, bytes_) != 0)
        m.fail(ViolationKind::async, *this, c.lane, "an element changes while an async copy reads it", &from, f);
      std::memcpy(to.data + static_cast<std::size_t>(t) * bytes_, seen, bytes_);
      to.stamp[static_cast<std::size_t>(t)] = m.now;
    }
  }

 private:
  void issue(Machine& m, Machine::Copy& c, std::int64_t t, std::int64_t f) const {
    auto &to = m.regions[static_cast<std::size_t>(c.to)], &from = m.regions[static_cast<std::size_t>(c.from)];
    c.elements.emplace_back(t, f);
    c.seen.resize(c.seen.size() + bytes_, std::byte{0});
    if (f >= 0) {
      if (!from.stamp.empty()) m.on_read(*this, from, f, c.lane);
      std::memcpy(c.seen.data() + c.seen.size() - bytes_, from.data + static_cast<std::size_t>(f) * bytes_, bytes_);
    }
    m.on_write(*this, to, t, c.lane, false);
    to.stamp[static_cast<std::size_t>(t)] = in_flight;
  }
  static const Extents& extents(const Machine& m, int region) { return m.program().kernel.buffers[static_cast<std::size_t>(region)].extents; }
  static Index origin(Machine& m, const std::vector<Linear>& index, int l) {
    Index r;
    for (const auto& i : index) r.push_back(i.at(m, i.base(m), l));
    return r;
  }
  static bool inside(const Index& i, const Extents& e) {
    for (std::size_t d = 0; d < i.size(); ++d)
      if (i[d] < 0 || i[d] >= e[d]) return false;
    return true;
  }
  std::size_t bytes_;
  std::vector<Linear> to_, from_;
  int to_region_, from_region_;
  Extents tile_;
};

class AsyncCommitOp final : public Op {
 public:
  void run(Machine& m) const override {
    m.each_lane([&](int l) {
      auto& open = m.open[static_cast<std::size_t>(l)];
      m.groups[static_cast<std::size_t>(l)].push_back(std::move(open));
      open.clear();
    });
  }
};

class AsyncWaitOp final : public Op {
 public:
  explicit AsyncWaitOp(int pending) : pending_(static_cast<std::size_t>(pending)) {}
  void run(Machine& m) const override {
    m.each_lane([&](int l) {
      auto& groups = m.groups[static_cast<std::size_t>(l)];
      while (groups.size() > pending_) {
        for (const auto& c : groups.front()) static_cast<const AsyncCopyOp*>(c.op)->land(m, c);
        groups.erase(groups.begin());
      }
    });
  }

 private:
  std::size_t pending_;
};

}  // namespace

OpPtr threads_op(std::vector<ThreadAxis> axes, int threads, Ops enter, Ops body) { return std::make_unique<ThreadsOp>(std::move(axes), threads, std::move(enter), std::move(body)); }
OpPtr tile_loop_op(std::int64_t extent, int var, Ops body) { return std::make_unique<TileLoopOp>(extent, var, std::move(body)); }
OpPtr barrier_op(kir::Scope scope) { return std::make_unique<BarrierOp>(scope); }
OpPtr shuffle_op(DType t, int result, int arg, kir::ShuffleMode mode, Linear lane) {
  return with_lane(t, [&](auto x) -> OpPtr { return std::make_unique<ShuffleOp<decltype(x)>>(result, arg, mode, std::move(lane)); });
}
OpPtr async_copy_op(DType t, std::vector<Linear> to, int to_region, std::vector<Linear> from, int from_region, Extents tile) {
  return std::make_unique<AsyncCopyOp>(t, std::move(to), to_region, std::move(from), from_region, std::move(tile));
}
OpPtr async_commit_op() { return std::make_unique<AsyncCommitOp>(); }
OpPtr async_wait_op(int pending) { return std::make_unique<AsyncWaitOp>(pending); }

}  // namespace plumb::interp::kernel

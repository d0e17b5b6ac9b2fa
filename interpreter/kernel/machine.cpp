#include <algorithm>
#include <cstdlib>

#include "interpreter/kernel/internal/machine.h"
#include "ir/kernel/text.h"
#include "ir/support/index_space.h"

namespace plumb::interp::kernel {

Machine::Machine(const Program& p) : regions(p.regions.size()), warp(p.options.warp), program_(p), file_(nullptr, std::free) {
  const auto bytes = (static_cast<std::size_t>(p.file_bytes) + 63) / 64 * 64;
  file_.reset(static_cast<std::byte*>(std::aligned_alloc(64, bytes)));
  if (!file_) fail_unsupported("out of memory: a kernel's scalars take " + std::to_string(bytes) + " bytes");
  std::memset(file_.get(), 0, bytes);
  masks_.resize(static_cast<std::size_t>(p.mask_depth + 2) * static_cast<std::size_t>(p.max_lanes));
  frames.reserve(16);
  for (std::size_t b = 0; b < regions.size(); ++b) {
    const auto& plan = p.regions[b];
    auto& r = regions[b];
    r.buffer = static_cast<kir::BufferId>(b);
    r.elements = plan.elements;
    r.instances = plan.instances;
    r.owner_lanes = plan.owner_lanes;
    r.shared = p.kernel.buffers[b].space == kir::Space::shared;
  }
}

Time Machine::tick() {
  if (++now == in_flight) fail_unsupported("a kernel this long is beyond the interpreter: it counts 2^32 iterations and barriers at most");
  return now;
}

/// Whether nothing orders an access at time t by `other` before one made now by `me`.
bool Machine::unordered(Time t, LaneId other, LaneId me, bool read_then_write) const {
  for (const auto& f : frames)
    if (t >= f.entered && t < f.iteration) return !(f.vector && read_then_write);
  if (other == me) return false;
  if (!threads) return lanes > 1 && t >= step_start && !read_then_write;
  if (t < nest_start || t < block_barrier) return false;
  const auto a = warp_of(other), b = warp_of(me);
  if (a == b && t < warp_barrier[static_cast<std::size_t>(a)]) return false;
  return a / 4 != b / 4 || t >= group_barrier[static_cast<std::size_t>(a / 4)];
}

bool Machine::earlier_iteration(Time t) const {
  return std::any_of(frames.begin(), frames.end(), [&](const auto& f) { return t >= f.entered && t < f.iteration; });
}

/// 2: of different warpgroups, 1: of different warps of one, 0: of one warp.
int Machine::scopes_apart(LaneId x, LaneId y) const {
  if (!threads) return 0;
  const auto a = warp_of(x), b = warp_of(y);
  return a / 4 != b / 4 ? 2 : a != b;
}

namespace {
std::string who(const Machine& m, LaneId l) {
  if (l & whole_warp) return "warp " + std::to_string(l & ~whole_warp);
  return (m.threads ? "thread " : "lane ") + std::to_string(l);
}
}  // namespace

void Machine::on_read(const Op& op, Region& r, std::int64_t element, LaneId me) {
  const auto e = static_cast<std::size_t>(element);
  const Time t = r.stamp[e];
  if (t == in_flight) fail(ViolationKind::async, op, me, "an async copy into this element is in flight", &r, element);
  if (t < r.fresh) fail(ViolationKind::poison, op, me, "read before it was written", &r, element);
  if (r.trace.empty()) return;
  auto& x = r.trace[e];
  if (unordered(t, x.writer, me, false)) fail(ViolationKind::race, op, me, who(*this, me) + " reads what " + who(*this, x.writer) + " of another iteration or interval wrote, and nothing orders the two", &r, element);
  // Two readers stand for all: one that is ordered before me gives way to me, and of three unordered ones the two
  // farthest apart stay. Whatever will be unordered with the third will be so with one of them.
  const auto stays = [&](int k) { return x.read[k] >= held_since(r) && unordered(x.read[k], x.reader[k], me, false); };
  int k = !stays(0) ? 0 : 1;
  if (k == 1 && stays(1)) {
    const auto apart = [&](Time t0, LaneId l0, Time t1, LaneId l1) { return std::max(earlier_iteration(t0), earlier_iteration(t1)) ? 3 : scopes_apart(l0, l1); };
    const int both = apart(x.read[0], x.reader[0], x.read[1], x.reader[1]), first = apart(x.read[0], x.reader[0], now, me), second = apart(x.read[1], x.reader[1], now, me);
    if (both > first && both > second) return;
    k = first >= second ? 1 : 0;
  }
  x.read[k] = now;
  x.reader[k] = me;
}

void Machine::on_write(const Op& op, Region& r, std::int64_t element, LaneId me, bool once) {
  const auto e = static_cast<std::size_t>(element);
  const Time t = r.stamp[e];
  if (t == in_flight) fail(ViolationKind::async, op, me, "an async copy into this element is in flight", &r, element);
  if (!r.trace.empty()) {
    auto& x = r.trace[e];
    if (t >= held_since(r) && unordered(t, x.writer, me, false)) fail(ViolationKind::race, op, me, who(*this, me) + " and " + who(*this, x.writer) + " both write, and nothing orders the two", &r, element);
    for (int k = 0; k < 2; ++k)
      if (x.read[k] >= held_since(r) && unordered(x.read[k], x.reader[k], me, true))
        fail(ViolationKind::race, op, me, who(*this, me) + " writes what " + who(*this, x.reader[k]) + " read, and nothing orders the two", &r, element);
    x.writer = me;
  }
  if (once && t >= r.fresh) fail(ViolationKind::written_twice, op, me, "an output's element is stored a second time", &r, element);
  r.stamp[e] = now;
}

Violation Machine::violation(ViolationKind kind, const Op& op, int lane, const std::string& what) const {
  Violation v;
  v.kind = kind;
  v.kernel = program_.kernel.name;
  v.what = what;
  if (op.statement < 0) return v;
  const kir::Printer printer(program_.kernel);
  const auto& s = program_.statements[static_cast<std::size_t>(op.statement)];
  v.statement = printer.statement(*s.stmt);
  const int l = lane & whole_warp ? (lane & ~whole_warp) * warp : lane;
  for (auto var : s.loops) {
    const auto& place = program_.vars[static_cast<std::size_t>(var)];
    const auto* words = reinterpret_cast<const std::int64_t*>(file_.get() + place.slot);
    const auto value = place.kind == VarPlace::Kind::uniform ? words[0] : place.kind == VarPlace::Kind::lanes ? words[0] + l : words[l];
    v.loops.emplace_back(printer.var(var), value);
  }
  return v;
}

void Machine::fail(ViolationKind kind, const Op& op, int lane, const std::string& what, const Region* r, std::int64_t element) const {
  if (!r) throw ViolationError(violation(kind, op, lane, what));
  const auto& extents = program_.kernel.buffers[static_cast<std::size_t>(r->buffer)].extents;
  fail(kind, op, lane, what, r->buffer, delinearize(element / r->instances, extents));
}

void Machine::fail(ViolationKind kind, const Op& op, int lane, const std::string& what, int region, Index index) const {
  auto v = violation(kind, op, lane, what);
  v.buffer = kir::Printer(program_.kernel).buffer(region);
  v.index = std::move(index);
  throw ViolationError(std::move(v));
}

}  // namespace plumb::interp::kernel

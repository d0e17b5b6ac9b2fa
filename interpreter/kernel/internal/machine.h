// The machine that compiled operations run on: values of scalars a lane, buffers with their history, the loops around.
#pragma once
#include <cstring>
#include <memory>
#include <vector>

#include "interpreter/domains/number.h"
#include "interpreter/kernel/interpreter.h"

namespace plumb::interp::kernel {

/// Moments of a run. They only tell iterations, allocations and barriers apart, so few suffice.
using Time = std::uint32_t;
inline constexpr Time in_flight = ~Time{0};   ///< stamp of an element that an async copy is writing
using LaneId = std::uint16_t;
inline constexpr LaneId whole_warp = 0x8000;  ///< plus the warp's number: an access by all its threads

/// Who touched an element last, where iterations may meet.
struct Trace {
  Time read[2] = {0, 0};
  LaneId reader[2] = {0, 0};
  LaneId writer = 0;
};

/// A buffer while its kernel runs. Private instances of lanes are interleaved: element e of lane l is e·lanes + l.
struct Region {
  std::byte* data = nullptr;
  std::vector<std::byte> own;
  std::int64_t elements = 0;       ///< of one instance
  std::int64_t instances = 1;
  int owner_lanes = 1;             ///< fragments: threads that share one
  std::vector<Time> stamp;         ///< of the last write; below `fresh`: poison. Empty for inputs
  Time fresh = 1;                  ///< of the last Alloc
  bool shared = false;
  std::vector<Trace> trace;        ///< empty where nothing can race
  kir::BufferId buffer = -1;
};

/// A loop around whose iterations are unordered: what happened in [entered, iteration) was another iteration's.
struct Frame {
  Time entered = 0, iteration = 0;
  bool vector = false;
};

struct Program;
class Op;

class Machine {
 public:
  explicit Machine(const Program& p);

  // ── lanes ──
  int lanes = 1;                       ///< of this step
  const LaneId* mask = nullptr;        ///< the active ones, or null for all
  int active = 1;
  template <class F> void each_lane(F f) const {
    if (!mask)
      for (int l = 0; l < lanes; ++l) f(l);
    else
      for (int k = 0; k < active; ++k) f(static_cast<int>(mask[k]));
  }
  /// Room for one mask more; masks are given back in reverse order by resetting mask_top.
  LaneId* new_mask() { return masks_.data() + mask_top; }
  std::size_t mask_top = 0;

  // ── values ──
  template <class T> T* at(int slot) { return reinterpret_cast<T*>(file_.get() + slot); }
  std::int64_t& word(int slot) { return *reinterpret_cast<std::int64_t*>(file_.get() + slot); }

  // ── memory and its history ──
  std::vector<Region> regions;
  std::vector<Frame> frames;
  Time now = 1;
  Time tick();
  bool threads = false;                ///< in a gpu_thread nest
  Time nest_start = 0, block_barrier = 0;
  std::vector<Time> warp_barrier, group_barrier;
  Time step_start = 0;                 ///< of the vector step
  int warp = 32;

  bool unordered(Time t, LaneId other, LaneId me, bool read_then_write) const;
  /// Whether time t lies in another iteration of a loop that is under way and orders nothing.
  bool earlier_iteration(Time t) const;
  int scopes_apart(LaneId x, LaneId y) const;
  int warp_of(LaneId l) const { return static_cast<int>(l & whole_warp ? l & ~whole_warp : l / static_cast<LaneId>(warp)); }
  /// Since when accesses met the same memory: a block's shared memory stays where it is when an Alloc in a loop runs again.
  Time held_since(const Region& r) const { return r.shared ? nest_start : r.fresh; }
  void on_read(const Op& op, Region& r, std::int64_t element, LaneId me);
  /// `once`: a store to an output.
  void on_write(const Op& op, Region& r, std::int64_t element, LaneId me, bool once);

  // ── async copies ──
  struct Copy {
    int to, from;
    std::vector<std::pair<std::int64_t, std::int64_t>> elements;  ///< to, from (-1: zero)
    std::vector<std::byte> seen;                                  ///< of the source at issue
    const Op* op;
    LaneId lane;
  };
  std::vector<std::vector<Copy>> open;                 ///< a lane
  std::vector<std::vector<std::vector<Copy>>> groups;  ///< a lane, oldest first

  std::optional<IndexFault> fault;
  std::int64_t operations = 0;

  [[noreturn]] void fail(ViolationKind kind, const Op& op, int lane, const std::string& what, const Region* r = nullptr, std::int64_t element = -1) const;
  [[noreturn]] void fail(ViolationKind kind, const Op& op, int lane, const std::string& what, int region, Index index) const;
  Violation violation(ViolationKind kind, const Op& op, int lane, const std::string& what) const;
  const Program& program() const { return program_; }

 private:
  friend struct Program;
  const Program& program_;
  std::unique_ptr<std::byte[], void (*)(void*)> file_;
  std::vector<LaneId> masks_;
};

/// One compiled statement, or part of one.
class Op {
 public:
  virtual ~Op() = default;
  virtual void run(Machine& m) const = 0;
  int statement = -1;   ///< in Program::statements
};

struct Ops {
  std::vector<std::unique_ptr<Op>> list;
  void run(Machine& m) const {
    for (const auto& op : list) op->run(m);
    m.operations += static_cast<std::int64_t>(list.size()) * m.active;
  }
};

/// Where a loop variable's value stands.
struct VarPlace {
  enum class Kind : std::uint8_t { uniform, lanes /* word + lane number */, varying /* a word a lane */ };
  int slot = -1;
  Kind kind = Kind::uniform;
};

/// How a buffer is held.
struct RegionPlan {
  std::int64_t elements = 0, instances = 1;
  int owner_lanes = 1;
  bool tracked = false, own = true;
};

struct Program {
  kir::Kernel kernel;
  KernelOptions options;
  struct Statement {
    const kir::Stmt* stmt = nullptr;
    std::vector<kir::VarId> loops;
  };
  std::vector<Statement> statements;
  std::vector<VarPlace> vars;
  std::vector<RegionPlan> regions;
  Ops body;
  int file_bytes = 64;
  int max_lanes = 1;
  int mask_depth = 1;
};

}  // namespace plumb::interp::kernel

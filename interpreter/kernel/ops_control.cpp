// Loops and conditions. Inside lanes, control flow that differs between them narrows the mask.
#include "interpreter/kernel/internal/ops.h"

namespace plumb::interp::kernel {
namespace {

/// Keeps a frame on the machine's stack while an unordered loop runs.
class InLoop {
 public:
  InLoop(Machine& m, bool wanted, bool vector) : m_(m), wanted_(wanted) {
    if (!wanted) return;
    const Time t = m.tick();
    m.frames.push_back({t, t, vector});
  }
  ~InLoop() {
    if (wanted_) m_.frames.pop_back();
  }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;
  void next_iteration() {
    if (wanted_) m_.frames.back().iteration = m_.tick();
  }

 private:
  Machine& m_;
  bool wanted_;
};

class LoopOp final : public Op {
 public:
  LoopOp(LoopPlan plan, Ops body) : plan_(std::move(plan)), body_(std::move(body)) {}

  void run(Machine& m) const override {
    if (!plan_.extent.same_for_all()) return ragged(m);
    const auto n = plan_.extent.base(m);
    InLoop frame(m, plan_.unordered, plan_.vector);
    for (std::int64_t i = 0; i < n; ++i) {
      frame.next_iteration();
      m.word(plan_.var) = i;
      body_.run(m);
    }
  }

 private:
  /// Each lane has its own number of iterations.
  void ragged(Machine& m) const {
    InLoop frame(m, plan_.unordered, plan_.vector);
    for (std::int64_t i = 0;; ++i) {
      LaneId* still = m.new_mask();
      int n = 0;
      const auto base = plan_.extent.base(m);
      m.each_lane([&](int l) {
        if (i < plan_.extent.at(m, base, l)) still[n++] = static_cast<LaneId>(l);
      });
      if (n == 0) return;
      const Masked masked(m, still, n);
      m.mask_top += static_cast<std::size_t>(n);
      frame.next_iteration();
      m.word(plan_.var) = i;
      body_.run(m);
    }
  }
  LoopPlan plan_;
  Ops body_;
};

class VectorOp final : public Op {
 public:
  VectorOp(std::int64_t extent, int width, int var, Ops enter, Ops body) : extent_(extent), width_(width), var_(var), enter_(std::move(enter)), body_(std::move(body)) {}

  void run(Machine& m) const override {
    enter_.run(m);
    InLoop frame(m, true, true);
    for (std::int64_t first = 0; first < extent_; first += width_) {
      frame.next_iteration();
      m.step_start = m.now;
      m.word(var_) = first;
      m.lanes = m.active = static_cast<int>(std::min<std::int64_t>(width_, extent_ - first));
      body_.run(m);
    }
    m.lanes = m.active = 1;
  }

 private:
  std::int64_t extent_;
  int width_, var_;
  Ops enter_, body_;
};

class IfOp final : public Op {
 public:
  IfOp(Test condition, Ops then, Ops otherwise) : condition_(std::move(condition)), uniform_(condition_.same_for_all()), then_(std::move(then)), otherwise_(std::move(otherwise)) {}

  void run(Machine& m) const override {
    if (uniform_) return condition_.holds(m) ? then_.run(m) : otherwise_.run(m);
    LaneId* holds = m.new_mask();
    LaneId* rest = holds + m.active;
    const int all = m.active, n = condition_.select(m, holds, rest);
    if (n == all) return then_.run(m);
    if (n > 0) in(m, holds, n, 2 * all, then_);
    if (!otherwise_.list.empty()) in(m, rest, all - n, 2 * all, otherwise_);
  }

 private:
  static void in(Machine& m, const LaneId* mask, int n, int room, const Ops& ops) {
    const Masked masked(m, mask, n);
    m.mask_top += static_cast<std::size_t>(room);
    ops.run(m);
  }
  Test condition_;
  bool uniform_;
  Ops then_, otherwise_;
};

class IfValueOp final : public Op {
 public:
  IfValueOp(int condition, Ops then) : condition_(condition), then_(std::move(then)) {}
  void run(Machine& m) const override {
    const auto* c = m.at<std::int64_t>(condition_);
    LaneId* holds = m.new_mask();
    int n = 0;
    m.each_lane([&](int l) {
      if (c[l]) holds[n++] = static_cast<LaneId>(l);
    });
    if (n == 0) return;
    if (n == m.active) return then_.run(m);
    const Masked masked(m, holds, n);
    m.mask_top += static_cast<std::size_t>(n);
    then_.run(m);
  }

 private:
  int condition_;
  Ops then_;
};

}  // namespace

OpPtr loop_op(LoopPlan plan, Ops body) { return std::make_unique<LoopOp>(std::move(plan), std::move(body)); }
OpPtr vector_op(std::int64_t extent, int width, int var, Ops enter, Ops body) { return std::make_unique<VectorOp>(extent, width, var, std::move(enter), std::move(body)); }
OpPtr if_op(Test condition, Ops then, Ops otherwise) { return std::make_unique<IfOp>(std::move(condition), std::move(then), std::move(otherwise)); }
OpPtr if_value_op(int condition, Ops then) { return std::make_unique<IfValueOp>(condition, std::move(then)); }

}  // namespace plumb::interp::kernel

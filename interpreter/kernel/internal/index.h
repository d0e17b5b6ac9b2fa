// Index expressions as the machine evaluates them: constant + lane·l + Σ coefficient·word, words being loop variables,
// scalars, or quotients and remainders computed before. Arithmetic wraps; what matters is checked against extents.
#pragma once
#include "interpreter/kernel/internal/machine.h"

namespace plumb::interp::kernel {

inline std::int64_t wrap_mul(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)); }
inline std::int64_t wrap_add(std::int64_t a, std::int64_t b) { return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)); }

struct Linear {
  struct Part {
    std::int64_t coefficient;
    int slot;
  };
  std::int64_t constant = 0;
  std::int64_t lane = 0;          ///< coefficient of the lane's number
  std::vector<Part> uniform;      ///< one word
  std::vector<Part> varying;      ///< a word a lane

  bool same_for_all() const { return lane == 0 && varying.empty(); }
  std::int64_t base(Machine& m) const {
    std::int64_t v = constant;
    for (const auto& p : uniform) v = wrap_add(v, wrap_mul(p.coefficient, m.word(p.slot)));
    return v;
  }
  std::int64_t at(Machine& m, std::int64_t base_value, int l) const {
    std::int64_t v = wrap_add(base_value, wrap_mul(lane, l));
    for (const auto& p : varying) v = wrap_add(v, wrap_mul(p.coefficient, m.at<std::int64_t>(p.slot)[l]));
    return v;
  }
};

/// An axis whose index was not shown to lie inside.
struct AxisCheck {
  Linear index;
  std::int64_t extent;
};

struct Access {
  int region = -1;
  Linear flat;                       ///< instances of lanes counted in
  std::vector<AxisCheck> checks;
  std::vector<Linear> index;         ///< every axis, for messages

  /// Fails when an active lane's index lies outside; then the element of lane l is flat.at(m, base, l).
  std::int64_t locate(Machine& m, const Op& op) const {
    for (const auto& c : checks)
      if (!inside(m, c)) outside(m, op);
    return flat.base(m);
  }
  /// Whether lanes 0, 1, … use consecutive elements.
  bool contiguous() const { return flat.lane == 1 && flat.varying.empty(); }

 private:
  static bool inside(Machine& m, const AxisCheck& c) {
    const auto base = c.index.base(m);
    if (c.index.same_for_all()) return base >= 0 && base < c.extent;
    bool ok = true;
    m.each_lane([&](int l) {
      const auto i = c.index.at(m, base, l);
      ok &= i >= 0 && i < c.extent;
    });
    return ok;
  }
  [[noreturn]] void outside(Machine& m, const Op& op) const;
};

struct Condition {
  Linear expr;
  bool equality;
  bool holds(std::int64_t v) const { return equality ? v == 0 : v >= 0; }
};

/// Lanes taken from the machine while it lives; the former ones come back after it.
class Masked {
 public:
  Masked(Machine& m, const LaneId* mask, int active) : m_(m), mask_(m.mask), active_(m.active), top_(m.mask_top) {
    m.mask = mask;
    m.active = active;
  }
  ~Masked() {
    m_.mask = mask_;
    m_.active = active_;
    m_.mask_top = top_;
  }
  Masked(const Masked&) = delete;
  Masked& operator=(const Masked&) = delete;

 private:
  Machine& m_;
  const LaneId* mask_;
  int active_;
  std::size_t top_;
};

class Test {
 public:
  std::vector<Condition> conditions;
  bool same_for_all() const {
    for (const auto& c : conditions)
      if (!c.expr.same_for_all()) return false;
    return true;
  }
  /// For an operation on one lane, or when it is the same for all.
  bool holds(Machine& m) const {
    for (const auto& c : conditions)
      if (!c.holds(c.expr.base(m))) return false;
    return true;
  }
  bool holds(Machine& m, int l) const {
    for (const auto& c : conditions)
      if (!c.holds(c.expr.at(m, c.expr.base(m), l))) return false;
    return true;
  }
  /// Writes the active lanes where it holds at `to`, and the others at `rest` if given; how many hold.
  int select(Machine& m, LaneId* to, LaneId* rest) const {
    int n = 0, others = 0;
    m.each_lane([&](int l) {
      if (holds(m, l)) to[n++] = static_cast<LaneId>(l);
      else if (rest) rest[others++] = static_cast<LaneId>(l);
    });
    return n;
  }
};

}  // namespace plumb::interp::kernel

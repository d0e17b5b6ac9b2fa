// Where the statements of a kernel stand, for editing it.
#pragma once
#include <set>
#include <vector>

#include "ir/kernel/kernel.h"

namespace plumb::fuzz {

/// A statement: its block, its place there, the loops around it, and the conditions that hold there.
struct Site {
  kir::Block* block = nullptr;
  std::size_t at = 0;
  std::vector<const kir::For*> loops;
  std::vector<const kir::If*> conditions;
  kir::Stmt& statement() const { return (*block)[at]; }
  template <class S> S* as() const { return std::get_if<S>(&statement().node); }
};

/// Values that a variable may take at a site.
struct Interval { std::int64_t low = 0, high = 0; };

class Sites {
 public:
  explicit Sites(kir::Kernel& kernel) : k_(kernel) { walk(kernel.body, {}, {}); note_outputs(); }
  const std::vector<Site>& all() const { return all_; }
  /// Loops that number elements of the result.
  bool is_output(kir::VarId v) const { return outputs_.count(v) > 0; }
  /// Buffers that hold partial sums of a reduction: those that it combines into, and those that these are stored to.
  std::set<kir::BufferId> partial_sums(int reduction) const;
  /// Loads that a scalar is computed from, nearest first.
  std::vector<const Site*> loads_of(kir::ScalarId s) const;
  /// Within the loop's extent and the conditions at the site; nothing where it has no constant extent.
  static std::optional<Interval> values(const Site& site, const kir::For& loop);

 private:
  void walk(kir::Block& b, std::vector<const kir::For*> loops, std::vector<const kir::If*> conditions);
  void note_outputs();
  const Site* definition(kir::ScalarId s) const;

  kir::Kernel& k_;
  std::vector<Site> all_;
  std::set<kir::VarId> outputs_;
};

/// The expression with a variable moved on.
kir::Affine moved(const kir::Affine& a, kir::VarId v, std::int64_t by);
kir::Predicate moved(kir::Predicate p, kir::VarId v, std::int64_t by);

}  // namespace plumb::fuzz

// What is known about index expressions at one place of a kernel: ranges of loop variables and of checked scalars, and the
// conditions that hold there. Ranges are inclusive; nullopt is "unknown", or beyond 64 bits.
#pragma once
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/kernel/kernel.h"

namespace plumb::kir {

class Bounds {
 public:
  /// Marks what holds inside a block; forget() returns to it.
  struct Mark { std::size_t vars, conditions; };
  Mark mark() const { return {scope_.size(), conditions_.size()}; }
  void forget(const Mark& m);

  /// Enters a loop: its variable lies in [0, extent).
  void enter(VarId v, const Affine& extent);
  void assume(const Predicate& p) { conditions_.insert(conditions_.end(), p.begin(), p.end()); }
  /// The negation, where it is one condition.
  void assume_not(const Predicate& p);
  void define(ScalarId s, std::optional<Range> r) { values_[s] = r; }

  std::optional<Range> range(const Affine& x) const { return range(x, 0); }
  /// Nothing gets here: a loop around is empty, or the conditions contradict one another.
  bool unreachable() const;
  /// Whether the least and the greatest value of the expression are both taken on: a sum of whole loops' variables, with
  /// no condition between.
  bool attains_extremes(const Affine& x) const;

 private:
  std::optional<Range> range(const Affine& x, int depth) const;
  std::optional<Range> interval(const Affine& x, int depth) const;
  std::optional<Range> atom(const Atom& a, int depth) const;
  std::optional<Range> narrowed(const Atom& a, std::optional<Range> r) const;
  struct Scoped { VarId var; std::optional<Range> range; bool whole; };
  std::vector<Scoped> scope_;
  Predicate conditions_;
  std::unordered_map<ScalarId, std::optional<Range>> values_;
};

}  // namespace plumb::kir

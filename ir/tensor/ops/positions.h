// Positions that tensors hold: indices along several axes as one position along these axes joined, for what reads there
// and what writes there.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

/// Negative indices count from the end; i64.
ValueId from_start(const Words& w, ValueId indices, std::int64_t size);

/// Coordinates, axis by axis, as one position. One with a coordinate outside its axis is far below 0: it stays an error,
/// and meets no other element.
class FlatPositions {
 public:
  explicit FlatPositions(const Words& w) : w_(w) {}
  /// The next axis, of this size; coordinates are i64, all of one shape.
  void add(ValueId coordinate, std::int64_t size);
  /// Likewise a coordinate that cannot be wrong.
  void add_inside(ValueId coordinate, std::int64_t size);
  ValueId value() const { return at_; }

 private:
  Words w_;
  ValueId at_ = -1;
};

/// NumPy's index by tensors: one tensor for each of the axes named.
struct IndexPlan {
  Shape at;           ///< of the indices together
  std::size_t where;  ///< the result's axis at which theirs begin: where the named ones stood if these are neighbours, else 0
};
std::variant<IndexPlan, std::string> index_plan(const Type& x, std::span<const Type> indices, const Ints& axes);
/// The result's shape.
Shape indexed_shape(const Type& x, const IndexPlan& p, const Ints& axes);

/// x with the named axes brought together at `where` and joined there.
struct JoinedAxes {
  Ints perm;
  Shape moved, joined;  ///< x's shape after the permutation, and with the named axes as one
};
JoinedAxes join_axes(const Type& x, const IndexPlan& p, const Ints& axes);
/// The positions along the joined axis, in the shape of the indices together.
ValueId joined_positions(const Words& w, const Type& x, const IndexPlan& p, In indices, const Ints& axes);

}  // namespace plumb::ir::ops

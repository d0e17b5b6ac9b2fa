// Coordinates along several axes as one position in the flattened axes, for GatherND, ScatterND and ScatterElements.
#pragma once
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

class FlatPosition {
 public:
  explicit FlatPosition(NodeImport& n) : n_(n) {}
  /// The next axis, of this size; negative coordinates count from its end.
  void add(ValueId coordinate, std::int64_t size);
  /// A coordinate that nothing can be wrong with: the index along an axis of the positions' shape.
  void add_index(const Shape& shape, std::size_t axis, std::int64_t size);
  /// i64 positions. One with a coordinate outside its axis is -1, so that it stays an error and does not reach a
  /// neighbour's row.
  ValueId value() const;

 private:
  void append(ValueId coordinate, std::int64_t size);
  NodeImport& n_;
  ValueId flat_ = -1, inside_ = -1;
};

}  // namespace plumb::ir::onnx_import

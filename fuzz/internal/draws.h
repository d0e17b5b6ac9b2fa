// Operations that the generator draws by name: an operand at hand, others of types that fit it, attributes by their names.
#pragma once
#include <functional>

#include "fuzz/generator.h"
#include "ir/tensor/builder.h"

namespace plumb::fuzz {

/// What a drawing asks of the program that grows.
struct Draws {
  ir::Builder& b;
  const Choose& choose;
  std::int64_t most;                                             ///< elements of a result
  std::function<ir::ValueId(const ir::Type&)> like;              ///< a value of this type
  std::function<ir::ValueId(ir::Shape, std::int64_t, std::int64_t)> indices;   ///< i64 from [low, high)
};

/// The results of an operation of x, drawn; none where the one drawn does not take x.
std::vector<ir::ValueId> draw(const Draws& d, ir::ValueId x);
/// The same among operations that read and write at positions that tensors hold.
std::vector<ir::ValueId> draw_positions(const Draws& d, ir::ValueId x);

}  // namespace plumb::fuzz

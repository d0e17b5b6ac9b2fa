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
  std::vector<ir::Function>& called;                             ///< functions beside the one that b builds
};

/// A size of an axis: mostly small, 0 and 1 among them, and those beside powers of two.
std::int64_t draw_size(const Choose& choose);
/// Some of the axes, in order; one of them, as the attribute "axis".
ir::Ints draw_axes(const Choose& choose, std::size_t rank);
ir::AttrMap draw_axis(const Choose& choose, std::size_t rank);
/// The operation, where its rule takes the operands and the results are small enough.
std::vector<ir::ValueId> draw_made(const Draws& d, std::string_view name, std::vector<ir::ValueId> in, ir::AttrMap a);

/// The results of an operation of x, drawn; none where the one drawn does not take x.
std::vector<ir::ValueId> draw(const Draws& d, ir::ValueId x);
/// The same among operations that read and write at positions that tensors hold.
std::vector<ir::ValueId> draw_positions(const Draws& d, ir::ValueId x);
/// The same among those that compute elements, and those that move them.
std::vector<ir::ValueId> draw_computed(const Draws& d, ir::ValueId x);
std::vector<ir::ValueId> draw_moved(const Draws& d, ir::ValueId x);
/// A factorisation of matrices made of x, or a system of equations.
std::vector<ir::ValueId> draw_factors(const Draws& d, ir::ValueId x);
/// if, while or scan over x, with functions of their own.
std::vector<ir::ValueId> draw_control(const Draws& d, ir::ValueId x);

}  // namespace plumb::fuzz

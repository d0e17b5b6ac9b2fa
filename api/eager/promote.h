// Operands brought to one dtype and one shape inside an operation's program.
#pragma once
#include "api/eager/dispatch.h"

namespace plumb::eager {

/// What the function makes of its operands' dtypes.
enum class Domain {
  any,        ///< where they meet
  floating,   ///< the same, f32 for integers and bools
  no_bool,    ///< the same, i64 for bools
};

/// The dtype in which tensors meet. Numbers, and tensors of rank 0 beside those of higher rank, do not raise it within its kind.
DType meeting_dtype(std::span<const Tensor> tensors, Domain domain = Domain::any);

std::vector<Tensor> tensors_of(std::initializer_list<const Operand*> operands, const char* name);
/// Runs `op` on the operands, converted to where they meet and broadcast together.
Tensor meet(std::string_view name, std::string_view op, std::initializer_list<const Operand*> operands, Domain domain, const ir::AttrMap& attributes = {});
/// One operand, converted to a float where it is none.
Tensor float_map(std::string_view name, std::string_view op, const Operand& x, const ir::AttrMap& attributes = {});
/// Axes from 0 on, all of them for an empty list; each once.
ir::Ints axes_of(const Tensor& x, const Sizes& dims, Here here, const char* name);

}  // namespace plumb::eager

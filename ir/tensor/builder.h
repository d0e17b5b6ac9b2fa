// Builds a function: every operation's types are inferred and its constraints checked as it is added.
#pragma once
#include <initializer_list>
#include <string_view>

#include "ir/tensor/graph.h"

namespace plumb::ir {

class Builder {
 public:
  explicit Builder(Function& f) : f_(f) {}
  /// Location given to the operations that follow.
  void at(SourceLocation where) { where_ = std::move(where); }
  const SourceLocation& where() const { return where_; }

  ValueId param(Type type, std::string_view name = "");
  /// Bad input (naming operation, types and the broken constraint) when the operation is not valid.
  std::vector<ValueId> add(std::string_view op, std::span<const ValueId> operands, AttrMap attrs = {});
  /// The same for an operation with one result.
  ValueId op(std::string_view op, std::initializer_list<ValueId> operands, AttrMap attrs = {});
  ValueId op(std::string_view op, std::span<const ValueId> operands, AttrMap attrs = {});
  /// As op, with types stated by the caller: for if and while, whose types come from other functions.
  std::vector<ValueId> add_typed(OpCode op, std::span<const ValueId> operands, AttrMap attrs, std::span<const Type> results);
  void results(std::span<const ValueId> values) { f_.results.assign(values.begin(), values.end()); }

  const Type& type(ValueId v) const { return f_.type(v); }
  Function& function() { return f_; }

  // Words that decompositions and importers need all the time.
  ValueId constant(Literal value);
  ValueId scalar(DType dtype, double value);               ///< rank 0; rounds to the dtype
  ValueId splat_like(ValueId like, double value);          ///< constant broadcast to the type of `like`
  ValueId convert(ValueId x, DType to);                    ///< x itself when it has that dtype
  ValueId broadcast_to(ValueId x, const Shape& shape);     ///< NumPy's rule: aligned at the last axis, sizes 1 stretch
  ValueId reshape(ValueId x, const Shape& shape);          ///< x itself when it has that shape
  ValueId transpose(ValueId x, Ints perm);
  ValueId keep_dims(ValueId reduced, std::span<const std::int64_t> axes, const Shape& original, ValueId like);  ///< broadcasts a reduction back
  /// A broadcast elementwise binary operation.
  ValueId binary(std::string_view op, ValueId x, ValueId y);

 private:
  Function& f_;
  SourceLocation where_;
};

/// The shape that NumPy's rule gives, or a sentence why there is none.
std::variant<Shape, std::string> broadcast_shapes(const Shape& a, const Shape& b);
/// A rank-0 literal; floats round to nearest even, integers convert exactly.
Literal scalar_literal(DType dtype, double value);

}  // namespace plumb::ir

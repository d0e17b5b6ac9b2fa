// Words for decompositions over batches of matrices (the last two axes).
#pragma once
#include "ir/tensor/builder.h"

namespace plumb::ir {

ValueId matrix_product(Builder& b, ValueId x, ValueId y);
/// The last two axes exchanged.
ValueId matrix_transpose(Builder& b, ValueId x);
/// Conjugate transpose.
ValueId matrix_adjoint(Builder& b, ValueId x);
/// Identity matrices of x's type, which is square.
ValueId identity_like(Builder& b, ValueId x);
/// The diagonal of square matrices, a vector.
ValueId matrix_diagonal(Builder& b, ValueId x);
/// A vector along the last axis, repeated as the columns (or rows) of matrices of this shape.
ValueId as_columns(Builder& b, ValueId v, const Shape& shape);
ValueId as_rows(Builder& b, ValueId v, const Shape& shape);
/// A reduction over the last `axes` axes.
ValueId reduce_last(Builder& b, std::string_view op, ValueId x, std::size_t axes = 1);
/// Element i along the last axis.
ValueId at_last(Builder& b, ValueId x, std::int64_t i);
/// x times a real constant, whatever x's dtype.
ValueId times(Builder& b, ValueId x, double c);

}  // namespace plumb::ir

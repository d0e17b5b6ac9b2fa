// Words in which records say what an operation means on the parts of complex operands.
#pragma once
#include "ir/tensor/record.h"

namespace plumb::ir {

/// The operation on each part alone; real operands serve both.
Parts part_by_part(Builder& b, std::string_view op, std::span<const Parts> in, const AttrMap& a);
/// A number of any dtype as a complex or bool one (the record of convert says how).
Parts complex_convert(Builder& b, Parts x, DType to);
Parts complex_constant(Builder& b, const Literal& value);
/// An operation that is linear in each of its two operands.
Parts complex_bilinear(Builder& b, std::string_view op, Parts x, Parts y, const AttrMap& a);
/// The product over the axes, by halving: element i with element i + ceil(n/2), until one is left; the empty product is 1.
Parts complex_product(Builder& b, Parts x, const Ints& axes);

}  // namespace plumb::ir

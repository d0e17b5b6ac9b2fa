// Words in which records say what an operation means on the parts of complex operands.
#pragma once
#include <initializer_list>

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

/// The parts beside one another on a new last axis of 2, as complex tensors have them in memory; and taken out again.
ValueId interleaved(Builder& b, Parts x);
Parts taken_apart(Builder& b, ValueId pairs);
/// A library operation on pairs: its record's "complex" form. `complex_results` says which results are pairs too.
std::vector<Parts> complex_library(Builder& b, std::string_view op, std::span<const Parts> in, const AttrMap& a, std::initializer_list<bool> complex_results);

}  // namespace plumb::ir

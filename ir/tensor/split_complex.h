// Complex numbers as pairs of real ones: a module without complex values that means the same.
//
// At the entry function's boundary a complex tensor is the tensor of its parts in the same memory (parts_type: a last
// axis of 2); within, and between functions, it is two tensors. What each operation means on the parts is its record's
// complex_parts, or the decomposition of a composite. So the reference, number systems, contracts and every backend need
// to know real numbers only.
#pragma once
#include "ir/tensor/graph.h"

namespace plumb::ir {

/// Whether any value is complex.
bool has_complex(const Module& m);
/// The module on parts; the same module when nothing is complex. Functions that the entry does not reach are left out.
Module split_complex(const Module& m);

}  // namespace plumb::ir

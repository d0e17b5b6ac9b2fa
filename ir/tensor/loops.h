// Operations that repeat steps until the data says stop. A composite's decomposition has no functions of its own, so these
// are written out in a module: as a while, with the functions that it names. That is what they mean.
#pragma once
#include "ir/tensor/graph.h"

namespace plumb::ir {

/// Whether a function of the module has such an operation (non_max_suppression).
bool has_loops(const Module& m);
/// The module with each of them written out; the module itself when it has none.
Module expand_loops(Module m);

}  // namespace plumb::ir

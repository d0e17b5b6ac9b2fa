// Reverse mode: a function of a module becomes one that also gives the transpose of its derivative, applied to cotangents.
//
// The forward operations stay as they are, or as their decompositions where an operation that takes part has no rule of its
// own; then each is pulled back, from the last to the first. At a kink the slope is the one that the operation's record states.
// A cotangent that is 0 because nothing was selected, gathered or sliced contributes 0, whatever the slope it meets.
// Integers and bools have no derivative: nothing flows through them. Random draws are functions of integers.
#pragma once
#include <optional>

#include "ir/tensor/graph.h"

namespace plumb::lowering {

struct Differentiate {
  std::vector<std::string> wrt;   ///< names of parameters; empty: all of floats
  bool values = true;             ///< the function's own results come first
  bool ones = false;              ///< the one result is a float of rank 0, and its cotangent is 1
};

/// The entry function with more parameters, the cotangents of its float results (unless `ones`), and with these results: its
/// own (where `values`), then the cotangents of the parameters named. Bad input, with operation and place, where something
/// that takes part has no derivative here.
ir::Module vjp(const ir::Module& module, const Differentiate& what);
/// As vjp, with `ones` where the entry's results are one float of rank 0.
ir::Module gradient(const ir::Module& module, std::vector<std::string> wrt);
/// The entry function with more parameters, the tangents of the parameters named, and the results' tangents after the
/// results: of float results alone.
ir::Module jvp(const ir::Module& module, const Differentiate& what);

}  // namespace plumb::lowering

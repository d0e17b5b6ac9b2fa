// Sizes for symbols: what a caller's inputs say about them, and the module with them filled in.
#pragma once
#include <map>
#include <span>
#include <string>

#include "ir/tensor/graph.h"

namespace plumb::ir {

using Bindings = std::map<std::string, std::int64_t>;

/// The module with these sizes in the place of the symbols, in every function's types and shape attributes, inferred
/// again and verified. Symbols without a binding stay; bindings without a symbol are ignored. Bad input, with the
/// place, when a size breaks an operation's constraint.
Module specialize(const Module& module, const Bindings& sizes);

/// The sizes that these concrete inputs give to the symbols of the parameters. Bad input naming the parameter and both
/// types on a wrong count, dtype, rank or size, and where a symbol would need two sizes. (Not
/// `bind`: with a vector among its arguments, an unqualified call would find std::bind.)
Bindings bind_symbols(const Function& function, std::span<const Type> inputs);

}  // namespace plumb::ir

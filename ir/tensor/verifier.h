// The invariants of a module, checked between any two passes and after every import.
#pragma once
#include "ir/tensor/graph.h"

namespace plumb::ir {

/// Whether an operation's result types are those of the functions it names (if), not inferred from its operands.
bool takes_types_from_functions(OpCode op);

/// Throws at the first broken invariant (verifier.cpp lists them), naming function, operation and place. A broken graph is
/// Plumb's own fault; a broken operation is blamed on `blame`: `internal` when a pass made the module.
void verify(const Module& module, ErrorKind blame = ErrorKind::input);
/// The part about functions that name each other.
void verify_calls(const Module& module, ErrorKind blame = ErrorKind::input);
/// Unsupported when functions name each other more than 256 deep: what runs or lowers a module goes as deep itself.
void check_call_depth(const Module& module);

}  // namespace plumb::ir

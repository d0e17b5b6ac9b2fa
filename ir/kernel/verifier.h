// The invariants of a kernel (verifier.cpp lists them), checked between any two steps of the lowering.
#pragma once
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"

namespace plumb::kir {

/// An access of which the verifier could not show that it stays inside its buffer: left to the interpreter and to proofs.
struct BoundsFact {
  std::string statement;
  std::string access;
  int axis = 0;
};

struct Verified {
  std::int64_t shown = 0;              ///< axes of accesses that stay inside for every iteration
  std::vector<BoundsFact> not_shown;
};

struct VerifyOptions {
  ErrorKind blame = ErrorKind::internal;  ///< whom a broken invariant is blamed on
  bool bounds = true;                     ///< X1 as well; without it the kernel is only shown to be well formed
};

/// Throws at the first broken invariant, with its label and the statement.
Verified verify(const Kernel& kernel, const VerifyOptions& options = {});

}  // namespace plumb::kir

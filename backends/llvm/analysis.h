// What code generation asks of a kernel before it emits a line; no LLVM here.
#pragma once
#include <functional>
#include <vector>

#include "ir/kernel/kernel.h"

namespace plumb::backends::codegen {

/// The operands of one statement; nested blocks are walked by the caller.
struct OperandVisitor {
  std::function<void(kir::ScalarId)> scalar = [](kir::ScalarId) {};
  std::function<void(const kir::Affine&)> index = [](const kir::Affine&) {};
  std::function<void(kir::BufferId, const kir::Indices&)> read = [](kir::BufferId, const kir::Indices&) {};
  std::function<void(kir::BufferId, const kir::Indices&)> write = [](kir::BufferId, const kir::Indices&) {};
};
void visit_operands(const kir::Stmt& s, const OperandVisitor& v);
/// Calls f on every statement of a block, nested ones included, in order.
void walk(const kir::Block& b, const std::function<void(const kir::Stmt&)>& f);
/// Calls f on an expression's atoms, nested ones included.
void walk_atoms(const kir::Affine& a, const std::function<void(const kir::Atom&)>& f);

/// Time of a block, roughly in vector instructions: whether it is worth another thread, or another copy.
double work(const kir::Kernel& k, const kir::Block& b);

/// What a block uses and does not define itself.
struct Uses {
  std::vector<kir::ScalarId> scalars;
  std::vector<kir::VarId> vars;
  std::vector<kir::BufferId> buffers;
};
Uses free_uses(const kir::Kernel& k, const kir::Block& b);

/// Whether the steps of a vector loop should be copies of one another with constant lanes, so that the elements of a
/// local buffer around the loop become registers.
bool unroll_steps(const kir::Kernel& k, const kir::For& f);
/// How many steps may run side by side as one: several chains of dependent operations hide each other's latency.
int widening(const kir::Kernel& k, const kir::For& f);
/// Lanes of the widest step that any vector loop of the kernel may have.
int widest_step(const kir::Kernel& k);

/// A vector loop whose body is one condition: what does not depend on the lane, and upper limits of the lane's
/// variable. Such a condition shortens the loop instead of masking each step.
struct TripGuard {
  kir::Predicate uniform;
  std::vector<kir::Affine> limits;  ///< the variable stays below each
  const kir::Block* body = nullptr;
};
std::optional<TripGuard> trip_guard(const kir::For& f);

}  // namespace plumb::backends::codegen

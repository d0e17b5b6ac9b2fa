// From a tensor module to a lowered program: the passes, in order, each named, dumped, timed, and switchable.
#pragma once
#include <functional>
#include <set>
#include <string>

#include "ir/kernel/target.h"
#include "ir/scalar/contract.h"
#include "ir/tensor/graph.h"
#include "lowering/program.h"

namespace plumb::lowering {

/// Deliberate errors in the lowering, so that tests can show each one caught. Never set outside tests.
enum class Fault : std::uint8_t { none, tail_mask, dropped_term, swapped_axes, half_accumulator, missing_barrier };

struct Options {
  Contract contract = Contract::relaxed;
  kir::TargetFacts target;
  std::set<std::string> disabled;                                ///< passes to leave out (those that may be)
  Fault fault = Fault::none;
  /// Called after each tensor-level pass with the module as it then is.
  std::function<void(const std::string& pass, const ir::Module&, double seconds, bool changed)> on_pass;
};

/// Names of the passes, in order, and whether each may be switched off.
struct PassInfo { std::string name, what; bool optional; };
std::vector<PassInfo> passes();

/// The module after all tensor-level passes (concrete types only).
ir::Module optimize(ir::Module module, const Options& options);
/// The whole way. The module's types must be concrete.
std::shared_ptr<const Program> lower(ir::Module module, const Options& options);

}  // namespace plumb::lowering

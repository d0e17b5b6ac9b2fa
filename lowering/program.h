// A lowered program: kernels, and the steps that launch them over slots of memory. What every backend runs.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/kernel/kernel.h"
#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::lowering {

using SlotId = std::int32_t;

/// A tensor in memory.
struct Slot {
  enum class Role : std::uint8_t { param, constant, hoisted /* computed once, by the prelude */, temporary, result };
  ir::Type type;
  std::string name;
  Role role = Role::temporary;
  ir::Literal value;          ///< constants
  std::int64_t offset = -1;   ///< temporaries: bytes into the arena
};

struct Launch {
  std::int32_t kernel;        ///< index into Program::kernels
  std::vector<SlotId> inputs, outputs;
};
/// A library operation (ir/linalg) as a step: the one node of `spec`, from its parameters to its results.
struct LibraryCall {
  std::shared_ptr<const ir::Function> spec;
  std::vector<SlotId> inputs, outputs;
};
/// Bitwise copy between slots of one size: a parameter or constant that is also a result.
struct Copy { SlotId from, to; };
struct IfStep {
  SlotId condition;           ///< bool[]
  std::int32_t then, otherwise;  ///< indices into Program::callees
  std::vector<SlotId> inputs, outputs;
};
struct WhileStep {
  std::int32_t condition, body;
  std::vector<SlotId> inputs, outputs;
};
/// A step of the body for each slice along axis 0 of the inputs after the first `carries`.
struct ScanStep {
  std::int32_t body;
  std::size_t carries;
  bool reverse;
  std::vector<SlotId> inputs, outputs;
};
using Step = std::variant<Launch, Copy, IfStep, WhileStep, ScanStep, LibraryCall>;

struct Program {
  std::string name;
  std::vector<Slot> slots;
  std::vector<SlotId> params, results;
  std::vector<ir::Type> takes, gives;   ///< of a whole program: its inputs' and results' types. A complex tensor's slot holds its parts
  std::vector<Step> prelude;  ///< depends on constants only: run once at load
  std::vector<Step> steps;
  std::vector<std::shared_ptr<const kir::Kernel>> kernels;
  std::vector<std::shared_ptr<const Program>> callees;
  std::int64_t arena_bytes = 0;
};

}  // namespace plumb::lowering

// The tensor-level passes. Each takes a function of a module and leaves its meaning as it was.
#pragma once
#include "ir/tensor/graph.h"
#include "lowering/pipeline.h"

namespace plumb::lowering {

/// Replaces composites by their decompositions, until only primitives are left.
ir::Function decompose(const ir::Function& f);
/// Folds views that move nothing, merges chains of views, drops conversions to the same dtype.
ir::Function simplify(const ir::Function& f);
/// One node for nodes that compute the same thing.
ir::Function share_common(const ir::Function& f);
/// Removes nodes whose results are not used.
ir::Function remove_dead(const ir::Function& f);

/// A group of nodes that becomes one kernel: the outlined specification, and which values it reads and gives.
struct Group {
  std::shared_ptr<const ir::Function> spec;
  std::vector<ir::ValueId> inputs;
  ir::ValueId output = -1;
};
/// Partitions the nodes into groups, in an order that respects uses. Constants that are not splats, control flow and
/// parameters stay outside: `items` has control flow and library calls in place (spec null, `control` set).
struct Plan {
  struct Item { Group group; int control = -1; };
  std::vector<Item> items;
};
Plan fuse(const ir::Function& f, bool enabled);

/// Offsets for temporaries: two that live at the same time do not overlap.
void plan_memory(Program& p);

}  // namespace plumb::lowering

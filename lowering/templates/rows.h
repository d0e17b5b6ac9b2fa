// Row programs: several reductions along one axis, and what stands before, between and after them, a row at a time.
//
// The program runs in passes over a row. Pass p computes the reductions whose operands hang on the results of passes before
// it alone; the last pass stores the row. Values that more than one pass needs are kept, when computing them anew costs more.
#pragma once
#include <set>

#include "lowering/templates/template.h"

namespace plumb::lowering {

struct RowPass {
  std::vector<int> reductions;             ///< nodes of the specification
  std::vector<ir::ValueId> keeps;          ///< values computed here for passes to come
  std::vector<ir::ValueId> reads;          ///< values kept by passes before
  std::vector<ir::ValueId> row_values;     ///< one a row, computed from this pass's reductions, in order
};

struct RowPlan {
  std::vector<RowPass> passes;             ///< the last one stores
  /// The last pass that reads a kept value.
  std::map<ir::ValueId, std::size_t> last_read;
};
/// What is kept of values that several passes need: those that are dear to compute, elements of inputs too, or nothing.
enum class Keep : std::uint8_t { nothing, computed, all };
RowPlan plan_rows(const KernelContext& c, Keep keep);

/// What both schedules need of a kernel under construction.
struct RowContext {
  KernelContext& c;
  RowPlan plan;
  std::map<int, int> reduction_of;         ///< by node: its declaration

  RowContext(KernelContext& c, Keep keep);
  std::int64_t columns() const { return c.shape.back(); }
  std::int64_t rows() const { return columns() == 0 ? 0 : element_count(c.shape) / columns(); }
  const ir::Node& node(int k) const { return c.spec.nodes[static_cast<std::size_t>(k)]; }
  DType dtype_of(int reduction) const { return c.spec.type(node(reduction).operands[0]).dtype; }
  FnId function_of(int reduction) const;
  /// A finished reduction's value from here on, and what hangs on it alone.
  void bind_reduction(int k, ScalarId accumulated);
  void bind_row_values(const RowPass& pass, const Indices& row);
};

/// A row is one parallel task's on a CPU, and one block's on a grid.
void lower_rows(KernelContext& c);
void lower_rows_on_grid(KernelContext& c);

}  // namespace plumb::lowering

// What every template shares: a kernel under construction for one specification.
//
// A specification (a tensor function of primitives with one result) has at most one anchor: the operation that decides
// the loop structure (a reduction, contraction, window, scan, sort, scatter). What feeds it is the prologue, evaluated
// where its elements are needed; what follows it is the epilogue, evaluated element by element on its result.
#pragma once
#include <memory>
#include <optional>

#include "lowering/emit.h"
#include "lowering/pipeline.h"

namespace plumb::lowering {

struct KernelContext {
  KernelContext(std::shared_ptr<const ir::Function> s, const Options& o);

  const ir::Function& spec;
  const Options& options;
  std::shared_ptr<kir::Kernel> kernel;
  kir::KernelBuilder b;
  Emitter e;
  using Joins = std::function<bool(ir::ValueId, std::size_t axis)>;  ///< whether a value's axis joins the one before it
  void place(const Joins& joins);
  int anchor = -1;               ///< node index in spec, or -1
  ir::ValueId root;              ///< the result
  Extents shape;                 ///< of the result
  Placed output;

  const ir::Node& anchor_node() const { return spec.nodes[static_cast<std::size_t>(anchor)]; }
  /// Lanes of a vector loop over elements of compute type f32 (the width that every template uses).
  int width() const { return std::max(1, options.target.vector_bytes / 4); }
  /// Makes buffers for the parameters and the result. `merge[d]` says that axis d of the result's shape joins axis d+1;
  /// parameters of the result's shape merge alike.
  void place_buffers(const std::vector<bool>& merge);
  /// The same for a contraction: the weights' axes within an output channel join, and a 1×1 convolution's image axes.
  void place_contraction(const std::vector<bool>& merge, bool convolution, bool flat);
  /// Emits the epilogue at an element of the result whose anchor value is the scalar, and stores it.
  void finish(const Indices& at, std::optional<ScalarId> anchor_value);
  int declare_reduction(FnId fn, DType accumulator, std::int64_t terms, std::int64_t height);
  /// The dtype that accumulators have: the rule's, or f16 under the test-only fault.
  DType accumulator_dtype(DType t) const { return options.fault == Fault::half_accumulator && is_float(t) ? DType::f16 : accumulator(t); }
};

/// Which neighbouring axes of the result may share one loop: those that no broadcast or view in the epilogue tells apart.
std::vector<bool> mergeable_axes(const ir::Function& spec, int anchor);

/// The variable of a loop, from the expression that its body got.
inline kir::VarId loop_var(const Affine& a) { return a.terms().at(0).atom.id; }
/// Row-major number of an index.
Affine flat_index(const Indices& index, std::span<const std::int64_t> extents);
/// The result's tensor index of the output element at coordinate(0), coordinate(1), …: what inverse maps are made of.
Indices output_coordinates(const KernelContext& c);

/// One nest over the result: the outer axes parallel, the last one in vector steps, split when it is long.
/// `body` gets the element's tensor index. The inverse map of the writes is declared.
/// `grain` elements of the last axis make one parallel task (0: chosen for plain element-wise work).
/// On a target with a grid: one thread an element.
void for_each_output(KernelContext& c, const std::function<void(const Indices&)>& body, std::int64_t grain = 0);

/// The canonical order of reductions (ir/tensor/ops/reduce.h): chunks of so many terms, in so many lanes.
inline constexpr std::int64_t reduction_chunk = 4096, reduction_lanes = 256;
/// Sequence of levels by the canonical order: chunks, lanes, halving.
/// Gives a local buffer whose element 0 is the result. With vector_lanes the lanes are a vector loop; without, the code
/// stands inside a vector loop over outputs and lanes are serial.
BufferId emit_reduction(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, bool vector_lanes, int reduction,
                        const std::function<ScalarId(const Affine&)>& term);
/// The same over leading axes of long rows on a CPU, and whether this is such a case. `term` gives the term of an element of
/// the result at a place in [0, terms).
bool worth_column_tiles(const KernelContext& c, std::int64_t terms);
void lower_column_reduce(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, int reduction, const std::function<ScalarId(const Indices&, const Affine&)>& term);
std::int64_t reduction_height(std::int64_t terms);
/// The value of an empty reduction.
double reduction_identity(FnId fn, DType dtype);
/// The same as a scalar of the accumulator's dtype: 64-bit integers have one that no double holds.
ScalarId reduction_identity(KernelContext& c, FnId fn, DType dtype, DType acc);

/// Whether some position of the window at an output lies in the input; nullopt when that is plain (no padding).
std::optional<ScalarId> window_meets_input(KernelContext& c, const Indices& out);

// The templates. Each fills the context's kernel for its kind of anchor.
void lower_pointwise(KernelContext& c);
void lower_concat(KernelContext& c);
void lower_reduce(KernelContext& c);
void lower_arg_reduce(KernelContext& c);
void lower_window(KernelContext& c);
void lower_scan(KernelContext& c);
void lower_sort(KernelContext& c);
void lower_scatter(KernelContext& c);
void lower_contraction(KernelContext& c);

/// Picks and runs the template.
std::shared_ptr<const kir::Kernel> lower_kernel(std::shared_ptr<const ir::Function> spec, const std::string& name, const Options& options);

}  // namespace plumb::lowering

// From "which element?" to scalar code: the value of a tensor expression at an index, as kernel IR.
//
// This is the compiler's own derivation of what each operation means, apart from the interpreter's equations.
// Views become index maps; padding and concatenation become guards on loads, so that no load leaves its buffer.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "ir/kernel/builder.h"
#include "ir/scalar/contract.h"
#include "ir/tensor/graph.h"

namespace plumb::lowering {

using kir::Affine;
using kir::BufferId;
using kir::Indices;
using kir::ScalarId;

/// A parameter or result in memory: its buffer, and how tensor axes map to buffer axes (runs of adjacent axes merge).
struct Placed {
  BufferId buffer = -1;
  Extents shape;                    ///< the tensor's
  std::vector<int> merged;          ///< for each tensor axis, its buffer axis (non-decreasing)
};

class Emitter {
 public:
  Emitter(kir::KernelBuilder& b, const ir::Function& spec, Contract contract) : b_(b), spec_(spec), contract_(contract) {}

  void place(ir::ValueId v, Placed p) { placed_[v] = std::move(p); }
  /// The scalar that stands for a value from here on, at whatever index it is asked for (a finished reduction).
  void bind(ir::ValueId v, ScalarId s) { bound_[v] = s; }
  void unbind(ir::ValueId v) { bound_.erase(v); }
  /// Starts a new block: scalars emitted in another block are not seen here.
  void enter_block() { memo_.clear(); }

  /// The element as a scalar of `compute_dtype(its dtype)`: narrow floats are held in f32, rounded to their own
  /// precision after each operation under strict, kept wide under relaxed.
  ScalarId at(ir::ValueId v, const Indices& index);
  /// The element where the predicate holds, else `other` (held in the compute dtype); nothing is read elsewhere.
  ScalarId at_guarded(ir::ValueId v, const Indices& index, const kir::Predicate& inside, ScalarId other);
  static DType compute_dtype(DType t) { return accumulator(t); }
  /// Rounds a wide scalar to a narrow dtype's precision, still held wide.
  ScalarId rounded(ScalarId s, DType t);
  /// Stores a scalar held in the compute dtype.
  void store(const Placed& to, const Indices& index, ScalarId value, DType dtype);
  /// Index of a placed tensor's element in its buffer.
  Indices buffer_index(const Placed& p, const Indices& index) const;

  kir::KernelBuilder& builder() { return b_; }
  const ir::Function& spec() const { return spec_; }
  Contract contract() const { return contract_; }
  ScalarId constant(DType t, double value) { return b_.constant(compute_dtype(t), value); }

 private:
  ScalarId emit_node(const ir::Node& n, ir::ValueId v, const Indices& index);
  ScalarId emit_elementwise(const ir::Node& n, const Indices& index);
  ScalarId emit_convert(const ir::Node& n, const Indices& index);
  ScalarId emit_pad(const ir::Node& n, const Indices& index);
  ScalarId emit_concat(const ir::Node& n, const Indices& index);
  ScalarId emit_gather(const ir::Node& n, const Indices& index);
  ScalarId load_placed(const Placed& p, const Indices& index, std::optional<ScalarId> other);
  ScalarId checked_index(const ir::Node& n, ScalarId index, std::int64_t extent);

  kir::KernelBuilder& b_;
  const ir::Function& spec_;
  Contract contract_;
  std::map<ir::ValueId, Placed> placed_;
  std::map<ir::ValueId, ScalarId> bound_;
  struct Key {
    ir::ValueId value;
    Indices index;
    kir::Predicate guard;
  };
  std::vector<std::pair<Key, ScalarId>> memo_;
  kir::Predicate guard_;   ///< what must hold for the element now emitted to be wanted
};

/// Index of a view's operand element for an element of its result (not pad, concat: those need guards).
Indices view_operand_index(const ir::Function& f, const ir::Node& n, const Indices& index, const kir::AtomRange& ranges);
/// Coordinates of a flat row-major index.
Indices delinearize(const Affine& flat, std::span<const std::int64_t> extents, const kir::AtomRange& ranges);
/// The splat value of a constant whose elements all share their bits.
bool is_splat(const ir::Literal& l);

}  // namespace plumb::lowering

// What a Tensor is inside: memory that views share, and a place on the tape.
#pragma once
#include <functional>
#include <map>
#include <optional>

#include "api/include/plumb/tensor.h"
#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::eager {

struct Trace;
struct Node;

/// The memory of one tensor and its views, row-major; while a function is captured, a value of the program instead.
struct Storage {
  ir::Literal value;                 ///< as the tensor that owns it was made: its dtype and sizes
  ir::Type type;                     ///< the same type; the one that traced storage has
  std::shared_ptr<Trace> trace;      ///< the capture that this storage lives in; null for memory
  ir::ValueId traced = -1;
  std::uint64_t birth = 0;           ///< counts storages: older ones are a capture's parameters, younger ones its constants
  std::uint64_t version = 0;         ///< counts changes in place
  Here changed;                      ///< the last one's line
  std::uint64_t graph_version = 0;   ///< counts the changes of the owner's place on the tape by changes in place
};

/// One result of a node of the tape.
struct Edge {
  std::shared_ptr<Node> node;
  std::size_t result = 0;
};

/// A tangent that a forward-mode transform gave, by the transform's number.
struct Tangent {
  int level = 0;
  Tensor value;
};

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  DType dtype{};
  Sizes sizes, strides;
  std::int64_t offset = 0;
  bool weak = false;                 ///< a number of the caller's: it does not raise a dtype within its kind

  bool requires_grad = false;        ///< of a leaf
  bool retains_grad = false;
  Edge grad_fn;                      ///< null for a leaf
  std::weak_ptr<Node> accumulator;   ///< of a leaf
  std::shared_ptr<Node> hooked;      ///< the same, kept for its hooks
  std::shared_ptr<TensorImpl> grad;
  std::vector<Tangent> tangents;

  bool view = false;                 ///< other sizes, strides or offset than the storage's owner has, or the owner is another
  std::shared_ptr<TensorImpl> base;  ///< of a view: the owner; null where the tape keeps the view
  std::uint64_t seen_graph = 0;      ///< of a view: the storage's graph_version that grad_fn belongs to

  ir::ValueId cached = -1;           ///< of a view in a capture: its value,
  std::uint64_t cached_version = 0;  ///< as long as the storage has this version
  std::uint64_t cached_in = 0;       ///< in the capture of this number

  bool whole() const;                ///< the storage's elements, all, in order
};

ir::Type type_of(const TensorImpl& t);
bool contiguous(const TensorImpl& t);
std::int64_t count(const Sizes& sizes);
Sizes row_major(const Sizes& sizes);

/// A new tensor over a literal, which becomes its own.
Tensor wrap(ir::Literal value);
/// A new tensor that is a value of a capture.
Tensor wrap_traced(std::shared_ptr<Trace> trace, ir::ValueId value, const ir::Type& type);
/// A view of the same storage.
Tensor view_of(const Tensor& t, Sizes sizes, Sizes strides, std::int64_t offset);
/// Storages made so far.
std::uint64_t storages_made();

/// The tensor behind an operand; a number becomes a weak tensor of rank 0.
Tensor tensor_of(const Operand& x);
/// The elements in order: the storage's own memory where that is possible, else a copy. Not for captured values.
ir::Literal literal_of(const TensorImpl& t);
/// A fresh copy of the elements.
ir::Literal copy_of(const TensorImpl& t);
/// Writes the elements, of the same dtype and as many, to where the tensor's lie.
void store(const TensorImpl& to, const ir::Literal& from);
/// Two indices share an element.
bool overlaps_itself(const TensorImpl& t);

// Errors.
SourceLocation place(Here here);
std::string describe(const Tensor& t);   ///< f32[2,3]
[[noreturn]] void fail(Here here, const std::string& message);
const TensorImpl& get(const Tensor& t, Here here, const char* op);   ///< bad input for an undefined tensor
std::int64_t wrap_axis(std::int64_t dim, std::int64_t rank, Here here, const char* op);

}  // namespace plumb::eager

// Runs tensor programs on the reference: in Rounded (the answer), in Enclosure (every legal answer).
#pragma once
#include <functional>
#include <map>
#include <vector>

#include "interpreter/domains/enclosure.h"
#include "ir/scalar/contract.h"
#include "ir/tensor/graph.h"

namespace plumb::interp {

/// A tensor's elements in a domain, dense and row-major.
template <class V> struct Dense {
  ir::Type type;
  std::vector<V> elements;
};
using EnclosedTensor = Dense<Enclosed>;

/// The reference answer. Inputs have the parameters' types. Bad input where the program's own error is reached (an
/// index out of range): it names operation, place and index.
std::vector<ir::Literal> evaluate(const ir::Module& module, std::span<const ir::Literal> inputs);

using Declared = std::map<int, Accumulation>;   ///< by the number of the node

struct EnclosureOptions {
  /// For nodes of the entry function that reduce: what the lowering declares, capped by the contract. Others get the
  /// contract's own.
  Declared declared = {};
  Allowances allow = {};   ///< fast: granted on top of relaxed
};
/// The set of answers that a relaxed lowering may give; a complex result's as the tensor of its parts.
std::vector<EnclosedTensor> evaluate_enclosure(const ir::Module& module, std::span<const ir::Literal> inputs, const EnclosureOptions& options = {});

/// One result at chosen elements (row-major places), computing only what they need: what any element of a huge program is,
/// without the others. For functions of primitives without control flow; else unsupported.
std::vector<Number> evaluate_at(const ir::Function& function, std::span<const ir::Literal> inputs, std::size_t result, std::span<const std::int64_t> places);
std::vector<Enclosed> evaluate_enclosure_at(const ir::Function& function, std::span<const ir::Literal> inputs, std::size_t result, std::span<const std::int64_t> places, const EnclosureOptions& options = {});

/// The contract's longest chain for n terms: reductions, and contractions.
std::int64_t reduce_height(std::int64_t terms);
std::int64_t dot_height(std::int64_t terms);
/// Whether the contract lets a node's sums be cut instead of rounded: a contraction of floats narrower than f32, widened or not.
bool may_truncate(const ir::Function& function, const ir::Node& node);
/// How node number `number` accumulates: as declared, capped by the contract with this height.
Accumulation accumulation_of(const ir::Function& function, const ir::Node& node, int number, std::int64_t height, const Declared& declared);

}  // namespace plumb::interp

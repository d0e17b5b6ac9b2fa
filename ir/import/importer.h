// One import: the functions being built, the names in scope, and the walk over a graph's nodes.
#pragma once
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/import/known_values.h"
#include "ir/import/onnx.h"
#include "ir/tensor/builder.h"

namespace onnx {
class AttributeProto;
class FunctionProto;
class GraphProto;
class NodeProto;
}  // namespace onnx

namespace plumb::ir::onnx_import {

class NodeImport;

/// A function under construction. A branch or loop body reads values of the function around it: each becomes a
/// parameter (a capture), and an operand where the function is named; what is known there is a constant here.
struct FunctionBuild {
  explicit FunctionBuild(std::string name, FunctionBuild* around = nullptr) : b(function), known(function), outer(around) { function.name = std::move(name); }
  FunctionBuild(const FunctionBuild&) = delete;
  FunctionBuild& operator=(const FunctionBuild&) = delete;
  Function function;
  Builder b;
  KnownValues known;
  FunctionBuild* outer;
  std::vector<ValueId> captures;                    ///< outer values, in the order of the parameters made for them
  std::unordered_map<ValueId, ValueId> inner_of;    ///< outer value to the value that stands for it here
  struct Padded { std::int64_t axis; ValueId count; };
  std::unordered_map<ValueId, Padded> padded;       ///< values at their greatest size: how much of them there is depends on data
  ValueId capture(ValueId outer_value);
  /// Makes sure that there is a parameter for each of these outer values, and puts those parameters last, in this order.
  void adopt(const std::vector<ValueId>& all_captures);
};

/// Names of one graph. Subgraphs see the names of the graphs around them; bodies of model functions see only their own.
struct Scope {
  FunctionBuild& fn;
  Scope* outer = nullptr;
  const std::map<std::string, int>* opsets = nullptr;  ///< versions by domain
  const NodeImport* caller = nullptr;                  ///< the node whose model function this is: it holds the attributes referred to
  const std::vector<::onnx::AttributeProto>* defaults = nullptr;  ///< of that function's attributes
  std::unordered_map<std::string, ValueId> names;
  std::unordered_map<std::string, std::string> absent;  ///< outputs that the importer does not give, and why
};

/// Thrown when the values of inputs have to be fixed; the import then starts again with it known.
struct NeedsValues {
  std::vector<std::size_t> inputs;
};

class Importer {
 public:
  Importer(const OnnxModel::Parsed& model, std::span<const Type> types, std::span<const Literal* const> values, const std::vector<bool>& fixed);
  Module run();

  /// Imports the nodes of a subgraph into `scope`, whose names hold its inputs; gives the values of its outputs.
  std::vector<ValueId> graph(const ::onnx::GraphProto& g, Scope& scope);
  /// The value of a name as seen from `scope`, made available in its function. Bad input when there is none.
  ValueId lookup(Scope& scope, const std::string& name, const SourceLocation& where);
  void bind(Scope& scope, const std::string& name, ValueId v, const SourceLocation& where);
  /// A number for each random node without a seed, from 1 on.
  std::uint64_t next_stream() { return ++streams_; }
  /// The value, which is to be read: unsupported when its size depends on data, unless fixing inputs can help (see fix_inputs_of).
  ValueId exact(FunctionBuild& fn, ValueId v, const SourceLocation& where) const;
  /// When the value depends on nothing but constants and small inputs whose values were given: starts again with those
  /// fixed (throws NeedsValues). Returns when that would not help.
  void fix_inputs_of(FunctionBuild& fn, ValueId v) const;
  /// Sentence about why a value is not known at import, for messages.
  std::string why_unknown(FunctionBuild& fn, ValueId v) const;

  std::string fresh_name(const std::string& stem) { return stem + "_" + std::to_string(++counter_); }
  void keep(Function f) { functions_.push_back(std::move(f)); }
  const OnnxModel::Parsed& model() const { return model_; }
  SourceLocation location(const ::onnx::NodeProto& node) const;

 private:
  void node(const ::onnx::NodeProto& node, Scope& scope);
  void call(const ::onnx::FunctionProto& f, NodeImport& n, Scope& scope);
  void check_new_values(const Function& f, std::size_t first, const SourceLocation& where);
  bool inputs_behind(FunctionBuild& fn, ValueId v, std::vector<std::size_t>& inputs) const;
  ValueId find(Scope& scope, const std::string& name, const SourceLocation& where);

  const OnnxModel::Parsed& model_;
  std::span<const Type> types_;
  std::span<const Literal* const> values_;
  const std::vector<bool>& fixed_;
  std::vector<Function> functions_;
  std::size_t counter_ = 0, values_made_ = 0;
  std::uint64_t streams_ = 0;
  int call_depth_ = 0;
};

/// The function with only what its results need, values renumbered, known integers as constants.
Function tidy(FunctionBuild& build, std::span<const ValueId> results);
/// Drops functions that no if or while reachable from the first names.
void drop_unreachable(std::vector<Function>& functions);

/// A model's operation: how many inputs it takes and how it is built. Found by name in the default domain.
struct OpEntry {
  std::string_view name;
  std::size_t min_inputs, max_inputs;
  void (*build)(NodeImport&);
};
inline constexpr std::size_t any_number = 1u << 20;
const OpEntry* find_entry(std::string_view op_type);

}  // namespace plumb::ir::onnx_import

// The tape: which operation made a tensor, from what, and how its cotangents are pulled back.
#pragma once
#include "api/eager/impl.h"
#include "api/eager/op_program.h"

namespace plumb::eager {

/// A tensor as it was when the tape kept it.
struct Saved {
  Tensor tensor;
  std::uint64_t version = 0;
};

struct Node {
  Node(std::string op, Here where, std::size_t result_count);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// The cotangents of the inputs, in the order of `inputs`; an undefined one is zero, and so is an undefined one given.
  virtual std::vector<Tensor> pull(std::vector<Tensor> cotangents) = 0;
  /// Lets go of what was saved.
  virtual void release() {}

  std::string name;
  Here here;
  std::uint64_t sequence;         ///< a node comes after all that it depends on
  std::size_t results;
  std::vector<Edge> inputs;       ///< where the cotangents of inputs go; null where they are not wanted
  std::vector<std::pair<std::size_t, std::function<Tensor(const Tensor&)>>> hooks;   ///< by result
  bool released = false;
};

/// Adds what arrives to the gradient of a leaf.
struct Accumulate final : Node {
  Accumulate(const std::shared_ptr<TensorImpl>& leaf);
  std::vector<Tensor> pull(std::vector<Tensor> cotangents) override;
  std::weak_ptr<TensorImpl> leaf;
};

/// An operation's program; the cotangents come from its pullback.
struct ProgramNode final : Node {
  ProgramNode(std::shared_ptr<OpProgram> p, std::string op, Here where);
  std::vector<Tensor> pull(std::vector<Tensor> cotangents) override;
  void release() override;
  std::shared_ptr<OpProgram> program;
  std::vector<bool> wanted;
  std::vector<Saved> saved;
};

bool grad_enabled();
void set_grad_enabled(bool on);
bool anomaly_mode();
void set_anomaly_mode(bool on);

bool requires_grad(const Tensor& t);
/// Where the tensor's cotangent goes; for a view of a tensor that was changed in place, through that tensor as it now is.
Edge edge_of(const Tensor& t);
/// The node of a program with these inputs, whether or not it has run; null where none of them requires a gradient, gradients
/// are switched off, or no result is a float.
std::shared_ptr<Node> record(const std::shared_ptr<OpProgram>& program, std::string name, std::span<const Tensor> inputs, Here here);
/// A handle on the same elements and the same place on the tape, which changes in place do not move.
Saved save(const Tensor& t);

struct BackwardOptions {
  bool retain_graph = false, create_graph = false;
  bool accumulate = true;              ///< into leaves
  std::vector<Edge> captures = {};     ///< whose cotangents to give
  bool narrowed = true;                ///< pull back to the captures alone
};
/// Pulls back from the roots. Gives the cotangents of the captures, undefined where nothing arrived.
std::vector<Tensor> run_backward(const std::vector<Edge>& roots, std::vector<Tensor> cotangents, const BackwardOptions& options, Here here);

}  // namespace plumb::eager

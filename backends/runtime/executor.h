// Runs a lowered program on a backend, step by step, with observers at each kernel.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "ir/kernel/violation.h"
#include "ir/tensor/literal.h"
#include "lowering/program.h"

namespace plumb::backends {

/// Sees each launch with the values that the kernel really got and gave. Used for checking, tracing, profiling.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Ordinal counts launches and library calls in a run, from 0; the prelude's come first, in the run that loads.
  virtual void before_launch(const kir::Kernel&, int /*ordinal*/, std::span<const ir::Literal> /*inputs*/) {}
  virtual void after_launch(const kir::Kernel&, int /*ordinal*/, std::span<const ir::Literal> /*inputs*/, std::span<const ir::Literal> /*outputs*/) {}
  /// After a library operation, with what it got and gave.
  virtual void after_call(const lowering::LibraryCall&, int /*ordinal*/, std::span<const ir::Literal> /*inputs*/, std::span<const ir::Literal> /*outputs*/) {}
  /// Instead of after_launch, where the target saw the kernel do what its language forbids. The run then ends with the
  /// kir::ViolationError.
  virtual void on_violation(const kir::Kernel&, int /*ordinal*/, std::span<const ir::Literal> /*inputs*/, const kir::Violation&) {}
};

struct RunOptions {
  Observer* observer = nullptr;
  bool poison = false;   ///< fill the arena, results and hoisted slots with NaN patterns first
};

/// A program loaded on a backend. Not for concurrent use.
class Session {
 public:
  Session(std::shared_ptr<const lowering::Program> program, std::shared_ptr<Backend> backend);
  ~Session();
  /// Inputs in the order of the program's parameters; their types must be the parameters'. Gives the results.
  std::vector<ir::Literal> run(std::span<const ir::Literal> inputs, const RunOptions& options = {});
  /// The parts of run, for calls that keep their tensors where the kernels reach them: inputs placed once, any number of
  /// calls in order, which on a device the host does not wait for, then finish. Placed tensors and results of enqueue in a
  /// device's memory are read by fetch alone.
  std::vector<ir::Literal> place(std::span<const ir::Literal> inputs) const;
  std::vector<ir::Literal> enqueue(std::span<const ir::Literal> placed, const RunOptions& options = {});
  void finish();   ///< throws what a call's index check found
  std::vector<ir::Literal> fetch(std::span<const ir::Literal> results) const;
  const lowering::Program& program() const { return *program_; }
  std::size_t kernel_count() const;   ///< distinct kernels, callees included
  std::string code(const kir::Kernel& kernel, bool assembly) const;

 private:
  struct State;
  std::shared_ptr<const lowering::Program> program_;
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<State> state_;
};

}  // namespace plumb::backends

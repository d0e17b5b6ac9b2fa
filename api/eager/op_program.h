// One operation, or one captured function, for inputs of some types: its module, what runs it, and its derivatives.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/runtime/executor.h"
#include "ir/scalar/contract.h"
#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::eager {

class OpProgram;

/// Sees each run of a compiled program: checks it.
using Watch = std::function<std::vector<ir::Literal>(backends::Session&, std::span<const ir::Literal>)>;

/// How a program runs. Eager operations run strict on the CPU: the first times on the reference, which gives the same bits
/// and needs no code; once that has cost as much as making code does, compiled.
struct Execution {
  std::string target = "cpu";
  Contract contract = Contract::strict;
  bool warm_up = true;
  Watch watch;
};

/// The cotangents of some inputs from those of the results.
struct Pullback {
  std::shared_ptr<OpProgram> program;    ///< null where there is none; `error` then says why
  std::vector<std::size_t> saved;        ///< the inputs that it takes first,
  std::vector<std::size_t> cotangents;   ///< then the cotangents of these results
  std::string error;
};

class OpProgram {
 public:
  OpProgram(ir::Module module, Execution execution);
  const ir::Module& module() const { return module_; }
  const std::vector<ir::Type>& takes() const { return takes_; }
  const std::vector<ir::Type>& gives() const { return gives_; }
  /// Results that no one else holds. Calls from several threads take turns.
  std::vector<ir::Literal> run(std::span<const ir::Literal> inputs);
  /// Derived at the first call for these inputs.
  const Pullback& pullback(const std::vector<bool>& wanted);
  /// Takes the inputs and the tangents of those wanted; gives the results and the tangents of the float ones.
  std::shared_ptr<OpProgram> pushforward(const std::vector<bool>& wanted);
  std::size_t kernels();   ///< compiled ones; compiles

 private:
  std::vector<ir::Literal> results_of(std::span<const ir::Literal> inputs);
  bool worth_compiling() const;
  void compile();

  std::mutex mutex_;
  ir::Module module_;
  Execution execution_;
  std::vector<ir::Type> takes_, gives_;
  std::vector<const void*> constants_;   ///< the memory of the module's own literals
  std::unique_ptr<backends::Session> session_;
  bool reference_only_ = false;
  double spent_ = 0;   ///< seconds on the reference
  double work_ = 0;    ///< scalar steps, about
  std::deque<std::pair<std::vector<bool>, Pullback>> pullbacks_;   ///< a deque: references to its entries stay
  std::vector<std::pair<std::vector<bool>, std::shared_ptr<OpProgram>>> pushforwards_;
};

/// The backend of that name, one for the process. Unsupported, with the mend, where it cannot be had.
std::shared_ptr<backends::Backend> backend_named(const std::string& target);

}  // namespace plumb::eager

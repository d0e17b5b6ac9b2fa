// The plumb command: one file a subcommand. Exit codes: 0 right, 1 a check failed, 2 bad usage or input, 3 unsupported.
#pragma once
#include <boost/program_options.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "ir/import/onnx.h"
#include "ir/scalar/contract.h"
#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::tools {

namespace po = boost::program_options;
using Args = std::vector<std::string>;

struct Command {
  std::string name, synopsis, what;
  int (*run)(const Args&);   ///< null: not in this version
};
const std::vector<Command>& commands();
/// The whole command: runs the subcommand and answers for what goes wrong. Gives the exit code.
int dispatch(const Args& args);

/// Parses, answering --help itself (returns false then). Throws bad input on bad usage.
bool parse_options(const Command& command, const Args& args, const po::options_description& options, const po::positional_options_description& positional, po::variables_map& to);
const Command& command(const std::string& name);

struct Parameter {
  std::string name;
  DType dtype;
};

/// A program file before its inputs are known.
class Source {
 public:
  /// FILE, or a folder with model.onnx.
  explicit Source(const std::string& path);
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::vector<std::string> parameter_names() const;
  std::string signature() const;                                  ///< for messages
  /// The types that random inputs have: symbols get `dims`, else sizes from 2 to 8 by the seed and the symbol's name.
  std::vector<ir::Type> random_types(std::uint64_t seed, const std::map<std::string, std::int64_t>& dims) const;
  /// The program for inputs of these types: all sizes known.
  ir::Module bind(const std::vector<ir::Literal>& inputs) const;
  /// The program with these dimensions' sizes; others stay named, which a model's cannot.
  ir::Module named(const std::map<std::string, std::int64_t>& dims) const;
  /// Inputs whose values the bound module takes as fixed, as sentences.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string path_;
  std::unique_ptr<ir::OnnxModel> onnx_;
  ir::Module module_;
  std::vector<Parameter> parameters_;
  mutable std::vector<std::string> notes_;
};

/// Tensors of .npy, .npz and .pb files for named parameters, by position or `name=path`. An .npz is taken by its arrays'
/// names when all of them are parameters, else in its order.
std::vector<ir::Literal> load_values(const std::vector<std::string>& files, const std::vector<Parameter>& parameters);
/// Test folders older than TensorProto's bf16 hold it as u16: such a tensor becomes the declared bf16, with a note.
void read_as_bf16(ir::Literal& value, DType declared, const std::string& what, std::vector<std::string>& notes);

/// The same on every machine, by splitmix64 of seed and place. Bools evenly; integers 0 to 3, which are often legal
/// indices; half of the floats multiples of 1/8 in [-4, 4), which sums keep exact, the others uniform in [-2, 2).
ir::Literal random_literal(const ir::Type& type, std::uint64_t seed);
std::vector<ir::Literal> random_inputs(const Source& source, std::uint64_t seed, const std::map<std::string, std::int64_t>& dims);

// ── values of flags (options.cpp) ──
std::uint64_t seed_from(const std::string& flag, const std::string& word);
std::map<std::string, std::int64_t> dims_from(const po::variables_map& given);   ///< NAME=SIZE of --dim
Contract contract_from(const po::variables_map& given);
Allowances allowances_from(const po::variables_map& given, Contract contract);   ///< names of --allow, with fast alone
std::set<std::string> disabled_from(const po::variables_map& given);             ///< optional passes to leave out

/// nullptr for `reference`. Unsupported where the target is not to be had.
std::shared_ptr<backends::Backend> make_target(const std::string& name, int threads);

/// The name of a result, `resultK` when it has none.
std::string result_name(const ir::Function& f, std::size_t k);
/// As NumPy prints an array: nested brackets, long axes cut.
std::string show(const ir::Literal& value);

int run_command(const Args&);
int explain_command(const Args&);
int grad_command(const Args&);
int targets_command(const Args&);
int ops_command(const Args&);
int fuzz_command(const Args&);
int prove_command(const Args&);
int spec_command(const Args&);
int sensitivity_command(const Args&);
int bench_command(const Args&);

}  // namespace plumb::tools

// The plumb command: one file a subcommand. Exit codes: 0 right, 1 a check failed, 2 bad usage or input, 3 unsupported.
#pragma once
#include <boost/program_options.hpp>

#include <map>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "ir/import/onnx.h"
#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::tools {

namespace po = boost::program_options;
using Args = std::vector<std::string>;

struct Command {
  std::string name, synopsis, what;
  int (*run)(const Args&);
};
const std::vector<Command>& commands();

/// Parses, answering --help itself (returns false then). Throws bad input on bad usage.
bool parse_options(const Command& command, const Args& args, const po::options_description& options, const po::positional_options_description& positional, po::variables_map& to);
const Command& command(const std::string& name);

/// A program file before its inputs are known.
class Source {
 public:
  explicit Source(const std::string& path);
  std::vector<std::string> parameter_names() const;
  std::string signature() const;                                  ///< for messages
  /// The types that random inputs have: symbols get `dims`, else sizes from the seed.
  std::vector<ir::Type> random_types(std::uint64_t seed, const std::map<std::string, std::int64_t>& dims) const;
  ir::Module bind(const std::vector<ir::Literal>& inputs) const;  ///< concrete
  std::vector<std::string> notes;                                 ///< what the user should know of the binding

 private:
  std::unique_ptr<ir::OnnxModel> onnx_;
  ir::Module module_;
  mutable std::vector<ir::Specialisation> specialised_;
};

/// Tensors of .npy, .npz and .pb files for named parameters, by position or `name=path`.
std::vector<ir::Literal> load_values(const std::vector<std::string>& files, const std::vector<std::string>& names, const std::vector<DType>& expected = {});
ir::Literal random_literal(const ir::Type& type, std::uint64_t seed);

/// nullptr for `reference`. Unsupported where the target is not to be had.
std::shared_ptr<backends::Backend> make_target(const std::string& name, int threads);

int run_command(const Args&);
int explain_command(const Args&);
int targets_command(const Args&);
int fuzz_command(const Args&);

}  // namespace plumb::tools

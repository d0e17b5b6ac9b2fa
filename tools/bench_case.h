// What `plumb bench` times: programs of bench/programs, which the command carries in itself, or files.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::tools {

/// A program, its sizes bound.
struct BenchCase {
  std::string name, what;
  ir::Module module;
  std::vector<ir::Type> inputs;
  std::vector<std::int64_t> below;   ///< an integer input's values are from 0 to below this; 4 where the program does not say
  double bytes = 0;   ///< each input read once, each result written once
  double flops = 0;   ///< of its dot_generals and convolutions, a multiply-add two
};

/// Names in bench/programs, and in its folder `cpu` or `cuda`, with what each is.
std::vector<std::pair<std::string, std::string>> bench_cases(const std::string& target);
/// A name in bench/programs or a .plumb file. Symbols get `dims`, else the sizes that the program states for the target in
/// a comment at its head, as `// cuda: N=8192 K=4096`; those of `cpu` serve every target that has none. `// below: ids=50257` bounds the
/// integers of %ids.
BenchCase bench_case(const std::string& word, const std::string& target, const std::map<std::string, std::int64_t>& dims);

/// Values to time with: floats near normally distributed, all bits of their significands in use (a multiplier's power, and so
/// its clock, hangs on them); integers even over their range.
std::vector<ir::Literal> bench_values(const BenchCase& c);

}  // namespace plumb::tools

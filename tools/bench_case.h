// What `plumb bench` times: programs of bench/programs, which the command carries in itself, or files.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ir/tensor/graph.h"

namespace plumb::tools {

/// A program, its sizes bound.
struct BenchCase {
  std::string name, what;
  ir::Module module;
  std::vector<ir::Type> inputs;
  double bytes = 0;   ///< each input read once, each result written once
  double flops = 0;   ///< of its dot_generals and convolutions, a multiply-add two
};

/// Names in bench/programs, and in its folder `cpu` or `cuda`, with what each is.
std::vector<std::pair<std::string, std::string>> bench_cases(const std::string& target);
/// A name in bench/programs or a .plumb file. Symbols get `dims`, else the sizes that the program states for the target in
/// a comment at its head, as `// cuda: N=8192 K=4096`; those of `cpu` serve every target that has none.
BenchCase bench_case(const std::string& word, const std::string& target, const std::map<std::string, std::int64_t>& dims);

}  // namespace plumb::tools

// The programs of tests/ops that the specification quotes: an example that is printed is one that runs as a test.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/tensor/graph.h"

namespace plumb::spec {

/// A function of a test's text, with the lines that say what it gives.
struct Example {
  std::string name, text;
  std::vector<std::string> expectations;   ///< "// run: @f == 1, 2"
  std::string str() const;                  ///< as it is quoted
};

/// One file of tests/ops.
struct TestFile {
  std::string_view path;
  ir::Module module;
  std::vector<Example> examples;
  const Example* find(std::string_view name) const;
};
/// All of them, by path.
const std::vector<TestFile>& test_files();

/// The examples of one operation or scalar function: those of tests/ops/<op>.plumb first.
class Examples {
 public:
  explicit Examples(std::string_view op);
  /// The program of that name; of the operation's own file where two have it.
  const Example* find(std::string_view name) const;
  /// The one of the operation's own name, else one of its edges, else the first of its own file that uses it.
  const Example* basic() const;

  /// A use of the operation with its function, for what the record says about types.
  struct Use { const TestFile* file; const ir::Function* function; const ir::Node* node; };
  std::optional<Use> use() const;

 private:
  std::string op_;
  std::vector<const TestFile*> files_;   ///< the operation's own first
  bool own_file_ = false;
};

}  // namespace plumb::spec

// The programs of tests/ops that the specification quotes: an example that is printed is one that runs as a test.
#pragma once
#include <map>
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

/// tests/ops/<op>.plumb: the examples of one operation or scalar function.
class Examples {
 public:
  explicit Examples(std::string_view op);
  const std::vector<Example>& all() const { return examples_; }
  const Example* find(std::string_view name) const;
  /// The one of the operation's own name, else the first whose body uses the operation.
  const Example* basic() const;

  /// A use of the operation with its function, for what the record says about types.
  struct Use { const ir::Function* function; const ir::Node* node; };
  std::optional<Use> use() const;

 private:
  void join_helpers();
  std::string op_;
  std::vector<Example> examples_;
  ir::Module module_;
};

}  // namespace plumb::spec

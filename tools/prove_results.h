// The results file of `plumb prove --functions`: rows that runs add to, and that may be merged.
//
// A row is one function, dtype and contract at one width of vectors. It holds `ranges` of argument numbers of `of`; a run on other numbers
// adds its own, a run on the same ones replaces the row, and a row of more arguments replaces one of fewer. `exhaustive` says that the
// arguments are all that the dtype has and that the ranges leave none out.
#pragma once
#include <memory>
#include <string>

#include "verify/functions.h"

namespace plumb::tools {

struct ProofContext {
  std::string machine;   ///< of the target, in words
  int vector_bits = 0;
  std::uint64_t seed = 1;
};

/// {"functions": [row, …]}, sorted. Files that cannot be read or are no such thing are bad input.
class ProofResults {
 public:
  ProofResults();
  ~ProofResults();
  /// Rows of a file; none where there is no such file and it need not exist.
  void read(const std::string& path, bool must_exist);
  /// A row for strict and one for relaxed.
  void add(const verify::FunctionResult& result, const ProofContext& context);
  void write(const std::string& path) const;
  std::int64_t rows() const;
  std::int64_t exhaustive() const;
  /// Rows with a wrong answer.
  std::int64_t wrong() const;

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace plumb::tools

// The results file of `plumb prove --functions`: rows that runs add to, and that may be merged.
//
// A row is one function, dtype and contract at one width of vectors. It holds `ranges` of argument numbers of `of`; a run on other numbers
// adds its own, a run on the same ones replaces the row, and a row of more arguments replaces one of fewer. `exhaustive` says that the
// arguments are all that the dtype has and that the ranges leave none out.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "verify/functions.h"

namespace plumb::tools {

struct ProofContext {
  std::string machine;   ///< of the target, in words
  int vector_bits = 0;
  std::uint64_t seed = 1;
};
/// One row for strict and one for relaxed.
std::vector<nlohmann::json> proof_rows(const verify::FunctionResult& result, const ProofContext& context);

/// {"functions": [row, …]}, sorted. Files that cannot be read or are no such thing are bad input.
class ProofResults {
 public:
  /// Rows of a file; none where there is no such file and it need not exist.
  void read(const std::string& path, bool must_exist);
  void add(nlohmann::json row);
  void write(const std::string& path) const;
  const std::vector<nlohmann::json>& rows() const { return rows_; }
  /// Rows with a wrong answer.
  std::int64_t wrong() const;

 private:
  std::vector<nlohmann::json> rows_;
};

}  // namespace plumb::tools

// What the parts of `plumb run` share.
#pragma once
#include <set>

#include "ir/scalar/contract.h"
#include "tools/cli.h"
#include "verify/check.h"
#include "verify/recorded.h"

namespace plumb::tools {

struct Settings {
  std::string target = "cpu", output;
  Contract contract = Contract::relaxed;
  Allowances allow;
  verify::Check check = verify::Check::off;
  bool json = false, progress = false, verbose = false;
  int threads = 0, repeat = 1;
  std::set<std::string> disabled;
};

/// An output beside what was expected of it.
struct Recorded {
  std::string set, name;           ///< test_data_set_K or "", the result's name
  verify::Comparison comparison;
  std::string str() const;
};

struct Outcome {
  verify::Report report;
  std::vector<Recorded> recorded;
  std::vector<std::pair<std::string, std::string>> outputs;  ///< names and types
  std::vector<double> load_ms, run_ms;                       ///< compiling and loading; the median of the repeated runs
  double seconds = 0;
  std::int64_t elements() const;
  std::int64_t decided() const;
  bool passed() const;
};

/// Runs one set of inputs: compiles, checks, compares with `expected` (may be null), writes outputs. `set` names it.
void run_once(const Source& source, const std::vector<ir::Literal>& inputs, const std::vector<ir::Literal>* expected, const std::string& set, bool print, const Settings& s,
              const std::shared_ptr<backends::Backend>& backend, Outcome& outcome);

/// Prints everything, RESULT last; gives the exit code.
int report(const Outcome& outcome, const Settings& s);

}  // namespace plumb::tools

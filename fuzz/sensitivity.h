// The oracle's sensitivity: how often it rejects what is right, which must be never, and which share it rejects of what is not.
//
// Right kernels are those that the lowering makes of a subject (subjects.h) in several ways: each run of a program gives each
// of its kernels one check on one set of inputs, by its enclosure (under strict, by the reference), through the checker that
// `plumb run --check kernel` uses; that check is what the counts call a program. The first run of each lowering (of the
// first, where K is beyond 4,096) is a full one, which adds the exact systems and the heights. Faulty kernels are the default lowering's with one fault (faults.h), judged in every way that
// the oracle has (trial.h).
#pragma once
#include <functional>
#include <map>

#include "fuzz/faults.h"
#include "fuzz/subjects.h"
#include "fuzz/trial.h"
#include "verify/check.h"

namespace plumb::fuzz {

struct SensitivityOptions {
  std::vector<std::string> ops;
  std::vector<DType> dtypes;
  std::vector<std::int64_t> sizes;
  std::int64_t trials = 16;        ///< of each op, dtype and size: runs of right programs where the size is 64, fewer in proportion to it, and at least one of each lowering; and
  int faults = 2;                  ///< faulty kernels of each kind
  double seconds = 0;              ///< if not 0: for each op, dtype and size an equal share of this time instead, half of it for each; at least one of each
  std::uint64_t seed = 1;
  std::shared_ptr<backends::Backend> target;
};

struct RightCount {
  std::int64_t programs = 0, elements = 0, decided = 0, rejected = 0;
  std::vector<std::string> alarms;   ///< the first few
};
struct FaultCount {
  std::int64_t judged = 0, rejected = 0;
  std::array<std::int64_t, way_names.size()> by{};
};
struct SubjectResult {
  std::string op;
  DType dtype;
  std::int64_t k;
  RightCount right;
  std::map<std::pair<FaultKind, DataKind>, FaultCount> faults;
  std::map<FaultKind, std::string> not_applicable;   ///< kinds with no place in any of the program's kernels, and why
  std::vector<std::string> missed;                   ///< the first few: kind, kernel, place
};

/// Calls `done` after each op, dtype and size.
void measure_sensitivity(const SensitivityOptions& options, const std::function<void(const SubjectResult&)>& done);

}  // namespace plumb::fuzz

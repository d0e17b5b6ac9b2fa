// Results whose size depends on the data. A program gives them at their greatest size and their counts (i64[]) beside them, as
// further results at the end; what is beyond the count is cut off where results leave the program.
#pragma once
#include "ir/tensor/graph.h"
#include "ir/tensor/literal.h"

namespace plumb::ir {

/// The results that the caller asked for, each as large as it is: cut as result_sizes says, the counts left out.
std::vector<Literal> exact_results(const Function& entry, const std::vector<Literal>& results);
/// The same, of another run's results, cut to the sizes of the first one's.
std::vector<Literal> exact_results(const Function& entry, const std::vector<Literal>& results, const std::vector<Literal>& counted);

}  // namespace plumb::ir

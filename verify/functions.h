// Elementary functions on a target against the reference, over all the arguments that a dtype has or a part of them.
//
// The compiled function is run on every argument, under strict and under relaxed. What it should give is computed for a stretch of 2^16
// consecutive f32 arguments at once (interpreter/functions/f32_reference.h says by which arguments of mathematics), else one by one.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/backend.h"
#include "interpreter/functions/f32_reference.h"
#include "ir/scalar/functions.h"

namespace plumb::verify {

/// Functions with an error bound of their own (exp, sin, pow, …), in the order of the list.
std::vector<FnId> elementary_functions();
/// Those, and sqrt and the functions of two arguments whose one rounding is not an instruction's or is worth watching.
std::vector<FnId> checked_functions();

struct FunctionResult {
  FnId fn = 0;
  DType dtype = DType::f32;
  std::int64_t first = 0, inputs = 0;   ///< numbers of the arguments: [first, first + inputs)
  std::int64_t total = 0;               ///< of how many
  bool all = false;                     ///< the numbers [0, total) are every argument of the dtype
  std::int64_t misrounded = 0;          ///< under strict: answers other than the reference's
  double misrounded_at[2] = {0, 0};
  double worst_ulp = 0;                 ///< under relaxed: the greatest distance from the exact value (f64: from it rounded), in units in its last place
  double worst_at[2] = {0, 0};
  std::int64_t beyond = 0;              ///< under relaxed: answers outside the function's enclosure
  double beyond_at[2] = {0, 0};
  interp::ReferenceCounts by;           ///< how the reference was had, where it was had by stretches
  double seconds = 0;
  bool right() const { return misrounded == 0 && beyond == 0; }
};

struct FunctionOptions {
  std::shared_ptr<backends::Backend> target;
  std::int64_t inputs = 0;       ///< at most so many arguments, spread over the dtype's patterns; 0: all that there are (one argument, 32 bits and less)
  int threads = 1;
  std::uint64_t seed = 1;        ///< of what is not enumerated
  std::int64_t shard = 0, shards = 1;   ///< only this part of the arguments, of so many equal ones
};
/// Functions of two arguments take `inputs` pairs (pairs.h), f64 ones of one argument pseudo-random bit patterns.
FunctionResult check_function(FnId fn, DType dtype, const FunctionOptions& options);

}  // namespace plumb::verify

// Elementary functions on a target against the reference, over all the arguments that a dtype has or a part of them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "backends/backend.h"
#include "ir/scalar/functions.h"

namespace plumb::verify {

/// Functions with an error bound of their own (exp, sin, pow, …), in the order of the list.
std::vector<FnId> elementary_functions();

struct FunctionResult {
  FnId fn = 0;
  DType dtype = DType::f32;
  std::int64_t inputs = 0;
  bool all = false;              ///< every argument of the dtype
  std::int64_t misrounded = 0;   ///< under strict: answers other than the reference's
  double misrounded_at[2] = {0, 0};
  double worst_ulp = 0;          ///< under relaxed: the greatest distance from the exact value, in units in its last place
  double worst_at[2] = {0, 0};
  std::int64_t beyond = 0;       ///< under relaxed: answers outside the function's enclosure
  double seconds = 0;
  bool right() const { return misrounded == 0 && beyond == 0; }
};

struct FunctionOptions {
  std::shared_ptr<backends::Backend> target;
  std::int64_t inputs = 0;       ///< at most so many arguments, spread over the dtype's patterns; 0: all that there are (one argument, 32 bits and less)
  int threads = 1;
  std::uint64_t seed = 1;        ///< of what is not enumerated
};
/// Functions of two arguments and of f64 take `inputs` pseudo-random bit patterns.
FunctionResult check_function(FnId fn, DType dtype, const FunctionOptions& options);

}  // namespace plumb::verify

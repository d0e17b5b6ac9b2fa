#pragma once
#include <cstdint>
#include <functional>

namespace plumb::interp {

/// Calls f(block) once for each of `blocks` blocks, on as many threads as the machine runs. What a call throws is thrown
/// to the caller when every thread has stopped, the first of several; blocks not yet begun are then left out.
void parallel(std::int64_t blocks, const std::function<void(std::int64_t)>& f);

}  // namespace plumb::interp

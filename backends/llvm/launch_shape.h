// How a kernel for a grid is launched.
#pragma once
#include <array>
#include <cstdint>

namespace plumb::backends {

struct LaunchShape {
  std::array<std::int64_t, 3> blocks{1, 1, 1}, threads{1, 1, 1};
  std::int64_t shared_bytes = 0;   ///< a block
  std::int64_t block_count() const { return blocks[0] * blocks[1] * blocks[2]; }
};

}  // namespace plumb::backends

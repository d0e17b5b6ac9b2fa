// Facts of a target that schedules depend on. Templates are one text; these numbers are what differs.
#pragma once
#include <cstdint>
#include <string>

namespace plumb::kir {

struct TargetFacts {
  std::string name = "cpu";
  int vector_bytes = 32;             ///< bytes of one vector register
  int vector_registers = 16;
  std::int64_t l2_bytes = 1 << 20;
  int threads = 1;
  bool grid = false;                 ///< schedules map to gpu_block and gpu_thread loops
  int warp = 32;
  std::int64_t shared_bytes = 48 << 10;
  bool tiles_truncate = false;       ///< TileMma cuts sums toward zero, whatever is declared: tensor cores do
};

}  // namespace plumb::kir

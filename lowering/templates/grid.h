// Schedules mapped to blocks of threads, for targets with a grid. Answers have the bits of the CPU's schedules: the orders
// of combining are the canonical ones, whose 256 lanes are here 256 threads.
#pragma once
#include "lowering/templates/contraction.h"

namespace plumb::lowering {

/// One thread an element of the result, neighbouring threads on neighbouring elements.
void for_each_output_on_grid(KernelContext& c, const std::function<void(const Indices&)>& body);
/// One thread a line along the axis; `body` gets the element of the line at a place, and the inverse of the loops.
void for_each_line_on_grid(KernelContext& c, std::size_t axis, const std::function<void(const std::function<Indices(const Affine&)>&, const std::vector<std::pair<kir::VarId, Affine>>&)>& body);

/// One block an element of the result: lanes are threads, halving passes through shared memory, then through shuffles.
/// `term` gives the term at an index of the result and a place in [0, terms).
void lower_grid_reduce(KernelContext& c, FnId fn, DType dtype, std::int64_t terms, int reduction, const std::function<ScalarId(const Indices&, const Affine&)>& term);
/// Whether terms are many enough that a block beats a thread an element.
bool fills_a_block(std::int64_t terms);

/// One block a tile of 16 × 16 elements, one thread an element; both operands pass through shared memory in tiles.
void lower_grid_contraction(KernelContext& c, const Contraction& p, int reduction);
/// One block a tile of 64 × 64 or 128 × 128 elements, 4 × 4 or 8 × 8 of them in each thread's registers.
void lower_grid_registers(KernelContext& c, const Contraction& p, int reduction);
bool worth_register_tiles(const Contraction& p);
/// The same in matrix units, 64 × 64 or 128 × 128 elements a block, where the contract and the sizes let them.
void lower_grid_tiles(KernelContext& c, const Contraction& p, int reduction);
bool fits_matrix_units(const KernelContext& c, const Contraction& p);

}  // namespace plumb::lowering

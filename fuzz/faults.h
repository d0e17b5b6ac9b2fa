// Faults of lowerings, made on purpose: edits of kernel IR, each of one kind, at one place.
//
// A fault changes one reduction of a kernel. A *step* is a Combine of it; a step is a *term's* when what it combines was not
// combined before, else it joins partial sums. A place is one iteration of the loops around a step, those aside that number
// the elements of the result: so each element of the result is wrong, in one place. Loops that a condition cuts short are
// pinned inside what is left, and lanes of a contraction's columns to lane 0, which is always a column of the result: so the
// place is reached, and what it computes is stored.
//
// Equivalent faults are not made: a term met twice by minimum or maximum changes nothing, and their accumulators do not
// round, so these kinds do not apply to them. Nor does a stale tile where the reduction is a single tile, nor a wrong
// tail where there is one term.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/kernel/kernel.h"

namespace plumb::fuzz {

enum class FaultKind : std::uint8_t { dropped_term, duplicated_term, neighbour_term, narrow_accumulator, stale_tile, wrong_tail };

struct FaultRow {
  FaultKind kind;
  std::string_view name, what;
};
inline constexpr std::array fault_rows{
    FaultRow{FaultKind::dropped_term, "dropped_term", "one term does not take part"},
    FaultRow{FaultKind::duplicated_term, "duplicated_term", "one term takes part twice"},
    FaultRow{FaultKind::neighbour_term, "neighbour_term", "the term beside it takes one term's place"},
    FaultRow{FaultKind::narrow_accumulator, "narrow_accumulator", "partial sums are kept in a narrower format"},
    FaultRow{FaultKind::stale_tile, "stale_tile", "one tile of an operand is read where the tile before it stands"},
    FaultRow{FaultKind::wrong_tail, "wrong_tail", "the last partial vector of terms is read one place too early"},
};
constexpr std::string_view name(FaultKind k) { return fault_rows[static_cast<std::size_t>(k)].name; }

struct Faulty {
  std::optional<kir::Kernel> kernel;
  std::string place;     ///< "k = 3, l = 17", "in bf16"
  std::string why_not;   ///< when there is none: why the kind does not apply
};
/// The kernel with one fault in its reduction `reduction`, at a place that `seed` chooses.
Faulty make_fault(const kir::Kernel& kernel, int reduction, FaultKind kind, std::uint64_t seed);

}  // namespace plumb::fuzz

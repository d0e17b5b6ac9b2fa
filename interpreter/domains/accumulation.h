// How a sum is accumulated: what the width of its enclosure rests on.
//
// Any order of n terms is a tree of additions. A term passes at most `height` of them on its way to the root, and each
// errs by at most a unit of what it gives: u = 2^-p of the accumulator's p bits when it rounds to nearest, 2u when it
// truncates. The sum of all errors is then at most height units of the sum of magnitudes (Higham 2002, section 4.2),
// whatever the tree. Truncation also has a side: sums of terms of one sign only shrink.
//
// A tensor core aligns several products to the largest and cuts them there (Fasi, Higham, Mikaitis and Pranesh 2021): each
// cut is below 2u of the magnitudes' sum, so the bound holds when its height counts every cut, the accumulator's too; that
// terms of one sign only shrink holds as well.
//
// The contract caps what may be declared: a height of the canonical order's; an accumulator no narrower than
// accumulator(t); truncation only in contractions of floats narrower than f32 (or of such floats widened).
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "ir/scalar/dtype.h"

namespace plumb::interp {

struct Accumulation {
  std::int64_t height = 0;        ///< longest chain of combining steps that a term passes
  std::optional<DType> dtype;     ///< of partial sums; none: the contract's
  bool truncates = false;         ///< steps cut toward zero instead of rounding to nearest
  bool flushes = false;           ///< a step's operands and result may be zeros where they are subnormal in f32 (fast alone)
  Accumulation(std::int64_t h, std::optional<DType> t = {}, bool cuts = false) : height(h), dtype(t), truncates(cuts) {}  // NOLINT: a height alone is the usual case
};

/// Whether every number of `narrow` is one of `wide`.
constexpr bool holds_all(DType wide, DType narrow) {
  return row(wide).precision >= row(narrow).precision && row(wide).emax >= row(narrow).emax && row(wide).emin <= row(narrow).emin;
}
/// The dtype of partial sums of `t`: the declared one, or the contract's where that is wider.
constexpr DType accumulator(DType t, const Accumulation& a) { return a.dtype && is_float(t) && is_float(*a.dtype) && holds_all(*a.dtype, plumb::accumulator(t)) ? *a.dtype : plumb::accumulator(t); }

/// What the enclosure takes: the declaration, no looser than the contract's.
inline Accumulation capped(const Accumulation& declared, std::int64_t height, bool may_truncate) {
  return {std::min(declared.height, height), declared.dtype, declared.truncates && may_truncate};
}

}  // namespace plumb::interp

#pragma once
#include "interpreter/domains/enclosure.h"

namespace plumb::interp {

/// [lo, hi] and its rounding to t.
Enclosed rounded_hull(DType t, double lo, double hi, bool nan);
/// Elementary functions: endpoints where monotone, widened by the row's ULP bound.
Enclosed enclose_elementary(FnId fn, DType t, std::span<const Enclosed> args);

}  // namespace plumb::interp

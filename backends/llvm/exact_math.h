// Elementary functions correctly rounded by MPFR: what code for f64 calls under strict, and what backends/exact, which code
// for narrower floats calls, is tested against.
#pragma once
#include <cstdint>

namespace plumb::backends::codegen {

/// The scalar function (a FnId) at doubles x (and y), rounded once to nearest even in the float dtype (a DType), range
/// included: subnormal results round where the dtype's do. Beyond the dtype's largest number the value keeps growing, so
/// that storing decides between infinity and saturation.
double correctly_rounded(std::int32_t fn, std::int32_t dtype, double x, double y);

}  // namespace plumb::backends::codegen

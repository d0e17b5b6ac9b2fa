// How one element is stored: bit patterns of every dtype, read and written through a double.
// These are data-format facts (IEEE-754 interchange formats, OCP 8-bit floats), shared by literals, files and text.
#pragma once
#include <cstdint>

#include "ir/scalar/dtype.h"

namespace plumb {

/// Encodes a real as a float format's bits, one rounding to nearest even. Overflow gives inf
/// (f8e4m3fn, which has none: finite values saturate to ±448, ±inf gives NaN).
std::uint64_t encode_float(DType format, double value);
/// The value of a float format's bit pattern, exactly.
double decode_float(DType format, std::uint64_t bits);

/// Element i of a dense array as a double (i64 and u64 beyond 2^53 round). Not for complex dtypes: their parts are elements.
double load_element(DType dtype, const void* base, std::int64_t i);
/// Stores a double: floats round once; integers take the value truncated, modulo 2^bits; bool is value != 0;
/// complex takes the value as real part, and +0 as imaginary one.
void store_element(DType dtype, void* base, std::int64_t i, double value);

}  // namespace plumb

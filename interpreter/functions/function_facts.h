// What mathematics says of elementary functions of one argument, for arguments that need no computing.
#pragma once
#include <limits>

#include "ir/scalar/functions.h"

namespace plumb::interp {

struct FunctionFacts {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();  ///< defined on [low, high]
  enum class Parity : std::uint8_t { none, odd, even } parity = Parity::none;
  double monotone_to = std::numeric_limits<double>::infinity();  ///< monotone on [0, monotone_to] and on [-monotone_to, 0], where defined
};

/// Zeros stand on the inside: where a domain starts at 0, -0 is not outside.
constexpr FunctionFacts function_facts(FnId fn) {
  using namespace scalar;
  using Parity = FunctionFacts::Parity;
  constexpr double inf = std::numeric_limits<double>::infinity();
  switch (fn) {
    case fn_id<Sqrt>:
    case fn_id<Rsqrt>:
    case fn_id<Log>:
    case fn_id<Log2>:
    case fn_id<Log10>: return {0, inf};
    case fn_id<Log1p>: return {-1, inf};
    case fn_id<Acos>: return {-1, 1};
    case fn_id<Asin>:
    case fn_id<Atanh>: return {-1, 1, Parity::odd};
    case fn_id<Acosh>: return {1, inf};
    case fn_id<Sin>:
    case fn_id<Tan>: return {-inf, inf, Parity::odd, 1.5};  // up to π/2
    case fn_id<Cos>: return {-inf, inf, Parity::even, 3};   // up to π
    case fn_id<Cosh>: return {-inf, inf, Parity::even};
    case fn_id<Cbrt>:
    case fn_id<Atan>:
    case fn_id<Sinh>:
    case fn_id<Tanh>:
    case fn_id<Asinh>:
    case fn_id<Erf>: return {-inf, inf, Parity::odd};
    default: return {};
  }
}

}  // namespace plumb::interp

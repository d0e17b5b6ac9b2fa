// Library operations (OpClass::library): matrix factorisations and solves, by LAPACK, on literals.
//
// One call on one thread, matrix by matrix, so that the reference and every target have the same bits. Whether the bits
// are right is the oracle's matter: it judges factors by what they multiply to (verify/residual.h). The conventions that
// make factors unique are in the records (ir/tensor/ops/linalg.h).
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "ir/tensor/attr.h"
#include "ir/tensor/literal.h"

namespace plumb::linalg {

/// The operation's results, of these types. Unsupported: a matrix with an axis beyond 2^31.
std::vector<ir::Literal> run_library(std::string_view op, const ir::AttrMap& attrs, std::span<const ir::Literal> operands, std::span<const ir::Type> results);

}  // namespace plumb::linalg

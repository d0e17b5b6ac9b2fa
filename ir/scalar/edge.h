// An edge of the meaning of an operation or a scalar function.
#pragma once
#include <string_view>

namespace plumb {

/// One edge ("E1", the case, the result), and which libraries do the same or otherwise. A test of the name "<op>_e1" shows it: a
/// function in tests/ops/.
struct Edge { std::string_view label, when, result, others = ""; };

}  // namespace plumb

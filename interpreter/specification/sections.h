// The parts of the specification that are made from records.
#pragma once
#include <string>
#include <string_view>

#include "ir/scalar/functions.h"

namespace plumb::spec {

/// Every dtype with its facts.
std::string dtypes();
/// Every operation, family by family; those that apply a scalar function element by element are listed only.
std::string operations();
/// Every scalar function.
std::string functions();
/// The tangent of a scalar function's result from those of its arguments, or why there is none: "r' = cos(x) * x'.".
std::string derivative_of(FnId fn);
/// Operations and functions by name.
std::string index();
/// The leading comment of a source file: where a grammar or a list of invariants is defined.
std::string leading_comment(std::string_view path);

// What an operation's and a function's section share.
std::string constraints_of(std::string_view op);
std::string edges_of(std::string_view op);
std::string examples_of(std::string_view op);

}  // namespace plumb::spec

// Control flow. The functions named are functions of the same module; the verifier checks their signatures.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct If {
  static constexpr OpRow row{"if", "condition, operands...", OpClass::control, "then(operands) when condition (bool[]) holds, else else(operands). Both functions take the operands' types and give the same types."};
  static constexpr std::array attrs{AttrSpec{"then", AttrKind::text}, AttrSpec{"else", AttrKind::text}};
  static constexpr std::string_view equation =
      "r = condition[] ? then(operands) : else(operands)";
  static constexpr std::string_view derivative = "the taken function's tangents.";
  static constexpr std::array constraints{
      Constraint{"C1", "The first operand is the condition, bool[]."},
      Constraint{"C2", "The types of the results are stated by whoever builds it: they are the functions'. (In text they stand after the colon.)"}};
  static constexpr std::array edges{
      Edge{"E1", "an error in the function that is not taken", "does not happen", "the same: ONNX, JAX's cond"},
      Edge{"E2", "no operands", "the function's own value"},
      Edge{"E3", "one function for both", "allowed"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in.empty() || in[0] != Type{DType::boolean, {}}) return no("C1: the condition must be bool[]");
    return no("C2: the result types of if come from its functions; build it with them stated");
  }
};

struct While {
  static constexpr OpRow row{"while", "operands...", OpClass::control, "Replaces the operands by body(operands) as long as cond(operands), a bool[], holds; gives the last ones."};
  static constexpr std::array attrs{AttrSpec{"cond", AttrKind::text}, AttrSpec{"body", AttrKind::text}};
  static constexpr std::string_view equation =
      "r = operands;  while cond(r)[] holds: r = body(r)";
  static constexpr std::string_view derivative = "the tangents go through body as the values do; cond has none.";
  static constexpr std::array edges{
      Edge{"E1", "a condition that never holds", "the operands"},
      Edge{"E2", "a value that the body passes on", "unchanged, and no copy is seen"},
      Edge{"E3", "a condition on NaN", "comparisons with NaN are false: the loop ends"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return std::vector<Type>(in.begin(), in.end()); }
};

using ControlOps = OpList<If, While>;

}  // namespace plumb::ir::ops

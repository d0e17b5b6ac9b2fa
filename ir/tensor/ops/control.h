// Control flow. The functions named are functions of the same module; the verifier checks their signatures.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct If {
  static constexpr OpRow row{"if", "condition, operands...", OpClass::control, "then(operands) when condition (bool[]) holds, else else(operands). Both functions take the operands' types and give the same types."};
  static constexpr std::array attrs{AttrSpec{"then", AttrKind::text}, AttrSpec{"else", AttrKind::text}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in.empty() || in[0] != Type{DType::boolean, {}}) return no("C1: the condition must be bool[]");
    return no("C2: the result types of if come from its functions; build it with them stated");
  }
};

struct While {
  static constexpr OpRow row{"while", "operands...", OpClass::control, "Replaces the operands by body(operands) as long as cond(operands), a bool[], holds; gives the last ones."};
  static constexpr std::array attrs{AttrSpec{"cond", AttrKind::text}, AttrSpec{"body", AttrKind::text}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return std::vector<Type>(in.begin(), in.end()); }
};

using ControlOps = OpList<If, While>;

}  // namespace plumb::ir::ops

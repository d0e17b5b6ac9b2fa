// Element by element: arithmetic, comparisons, logic, bits, casts, with NumPy's broadcasting.
#include <limits>

#include "ir/import/families.h"
#include "ir/import/narrow_float.h"
#include "ir/import/tensor_proto.h"

namespace plumb::ir::onnx_import {
namespace {

struct Name {
  const char* onnx;
  const char* ir;
};
constexpr Name unary_names[] = {
    {"Abs", "abs"}, {"Acos", "acos"}, {"Acosh", "acosh"}, {"Asin", "asin"}, {"Asinh", "asinh"}, {"Atan", "atan"}, {"Atanh", "atanh"}, {"BitwiseNot", "not"},
    {"Ceil", "ceil"}, {"Cos", "cos"}, {"Cosh", "cosh"}, {"Erf", "erf"}, {"Exp", "exp"}, {"Floor", "floor"}, {"IsNaN", "is_nan"}, {"Log", "log"},
    {"Neg", "neg"}, {"Not", "not"}, {"Round", "round_even"}, {"Sigmoid", "sigmoid"}, {"Sign", "sign"}, {"Sin", "sin"}, {"Sinh", "sinh"},
    {"Sqrt", "sqrt"}, {"Tan", "tan"}, {"Tanh", "tanh"},
};
constexpr Name binary_names[] = {
    {"Add", "add"}, {"And", "and"}, {"BitwiseAnd", "and"}, {"BitwiseOr", "or"}, {"BitwiseXor", "xor"}, {"Div", "div"}, {"Equal", "eq"}, {"Greater", "gt"},
    {"GreaterOrEqual", "ge"}, {"Less", "lt"}, {"LessOrEqual", "le"}, {"Mul", "mul"}, {"Or", "or"}, {"Sub", "sub"}, {"Xor", "xor"},
};
template <std::size_t N> const char* ir_name(const Name (&names)[N], const std::string& onnx) {
  for (const auto& n : names)
    if (onnx == n.onnx) return n.ir;
  fail_internal("an operator without its row");
}
void unary(NodeImport& n) { n.out(n.unary(ir_name(unary_names, n.op_type()), n.in(0))); }
void binary(NodeImport& n) { n.out(n.binary(ir_name(binary_names, n.op_type()), n.in(0), n.in(1))); }

ValueId fold(NodeImport& n, std::string_view op) {
  const auto xs = n.all();
  ValueId r = xs.at(0);
  for (std::size_t i = 1; i < xs.size(); ++i) r = n.binary(op, r, xs[i]);
  return r;
}
void variadic_max(NodeImport& n) { n.out(fold(n, "maximum")); }
void variadic_min(NodeImport& n) { n.out(fold(n, "minimum")); }
void variadic_sum(NodeImport& n) { n.out(fold(n, "add")); }
void variadic_mean(NodeImport& n) { n.out(n.with("div", fold(n, "add"), static_cast<double>(n.input_count()))); }

void mod(NodeImport& n) {
  const bool fmod = n.integer("fmod", 0) != 0;
  if (!fmod && is_float(n.type_in(0).dtype)) n.fail("floats need fmod = 1");
  n.out(n.binary(fmod ? "fmod" : "remainder", n.in(0), n.in(1)));
}

/// The result has the base's dtype. An exponent of another dtype is converted to it; a fractional exponent of an
/// integer base must not lose its fraction, so that power is taken in the exponent's dtype.
void pow(NodeImport& n) {
  const auto base = n.type_in(0).dtype, exponent = n.type_in(1).dtype;
  if (is_integer(base) && is_float(exponent)) n.out(n.b.convert(n.binary("pow", n.b.convert(n.in(0), exponent), n.in(1)), base));
  else n.out(n.binary("pow", n.in(0), n.b.convert(n.in(1), base)));
}

void reciprocal(NodeImport& n) { n.out(n.b.op("div", {n.b.splat_like(n.in(0), 1), n.in(0)})); }

void bit_shift(NodeImport& n) {
  const auto direction = n.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") n.fail("direction is '" + direction + "'");
  n.out(n.binary(direction == "LEFT" ? "shift_left" : "shift_right", n.in(0), n.in(1)));
}

void is_inf(NodeImport& n) {
  const auto x = n.in(0);
  const bool negative = n.integer("detect_negative", 1) != 0, positive = n.integer("detect_positive", 1) != 0;
  auto found = n.unary("is_inf", x);
  if (!negative) found = n.b.op("and", {found, n.with("gt", x, 0)});
  if (!positive) found = n.b.op("and", {found, n.with("lt", x, 0)});
  n.out(found);
}

void cast_to(NodeImport& n, DType to) {
  const auto x = n.in(0);
  if (!is_float(to) || byte_size(to) > 1) return n.out(n.b.convert(x, to));
  n.out(to_narrow_float(n, is_float(n.type(x).dtype) ? x : n.b.convert(x, DType::f32), to, n.integer("saturate", 1) != 0));
}
void cast(NodeImport& n) { cast_to(n, require_dtype(static_cast<int>(n.integer("to")), n.op_type() + "'s result", n.where)); }
void cast_like(NodeImport& n) { cast_to(n, n.type_in(1).dtype); }

void where(NodeImport& n) { n.out(n.select(n.in(0), n.in(1), n.in(2))); }

/// A bound of Clip: an input from opset 11 on, an attribute before.
ValueId clip_bound(NodeImport& n, std::size_t i, const char* attribute, const Type& like) {
  ValueId bound = -1;
  if (n.has(i)) bound = n.in(i);
  else if (n.opset < 11 && n.has_attr(attribute)) bound = n.b.scalar(like.dtype, n.real(attribute, 0));
  if (bound < 0) return -1;
  if (n.type(bound).elements() != 1) n.fail(std::string(attribute) + " must be a scalar, not " + n.type(bound).str());
  return n.b.broadcast_to(n.b.reshape(bound, {}), like.shape);
}
void clip(NodeImport& n) {
  const auto x = n.in(0);
  const Type t = n.type(x);
  const auto low = clip_bound(n, 1, "min", t), high = clip_bound(n, 2, "max", t);
  if (low >= 0 && high >= 0) n.out(n.b.op("clamp", {x, low, high}));
  else if (low >= 0) n.out(n.b.op("maximum", {x, low}));
  else if (high >= 0) n.out(n.b.op("minimum", {x, high}));
  else n.out(x);
}

constexpr OpEntry entries[] = {
    {"Abs", 1, 1, unary}, {"Acos", 1, 1, unary}, {"Acosh", 1, 1, unary}, {"Add", 2, 2, binary}, {"And", 2, 2, binary}, {"Asin", 1, 1, unary},
    {"Asinh", 1, 1, unary}, {"Atan", 1, 1, unary}, {"Atanh", 1, 1, unary}, {"BitShift", 2, 2, bit_shift}, {"BitwiseAnd", 2, 2, binary},
    {"BitwiseNot", 1, 1, unary}, {"BitwiseOr", 2, 2, binary}, {"BitwiseXor", 2, 2, binary}, {"Cast", 1, 1, cast}, {"CastLike", 2, 2, cast_like},
    {"Ceil", 1, 1, unary}, {"Clip", 1, 3, clip}, {"Cos", 1, 1, unary}, {"Cosh", 1, 1, unary}, {"Div", 2, 2, binary}, {"Equal", 2, 2, binary},
    {"Erf", 1, 1, unary}, {"Exp", 1, 1, unary}, {"Floor", 1, 1, unary}, {"Greater", 2, 2, binary}, {"GreaterOrEqual", 2, 2, binary},
    {"IsInf", 1, 1, is_inf}, {"IsNaN", 1, 1, unary}, {"Less", 2, 2, binary}, {"LessOrEqual", 2, 2, binary}, {"Log", 1, 1, unary},
    {"Max", 1, any_number, variadic_max}, {"Mean", 1, any_number, variadic_mean}, {"Min", 1, any_number, variadic_min}, {"Mod", 2, 2, mod},
    {"Mul", 2, 2, binary}, {"Neg", 1, 1, unary}, {"Not", 1, 1, unary}, {"Or", 2, 2, binary}, {"Pow", 2, 2, pow}, {"Reciprocal", 1, 1, reciprocal},
    {"Round", 1, 1, unary}, {"Sigmoid", 1, 1, unary}, {"Sign", 1, 1, unary}, {"Sin", 1, 1, unary}, {"Sinh", 1, 1, unary}, {"Sqrt", 1, 1, unary},
    {"Sub", 2, 2, binary}, {"Sum", 1, any_number, variadic_sum}, {"Tan", 1, 1, unary}, {"Tanh", 1, 1, unary}, {"Where", 3, 3, where}, {"Xor", 2, 2, binary},
};
}  // namespace
std::span<const OpEntry> elementwise_family() { return entries; }
}  // namespace plumb::ir::onnx_import

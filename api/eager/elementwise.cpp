// Functions of elements.
#include <cmath>
#include <limits>

#include "api/eager/promote.h"
#include "api/include/plumb/functions.h"

namespace plumb {

using eager::attrs;
using eager::Domain;
using eager::meet;
using eager::Values;
using ir::Builder;

#define PLUMB_BINARY(name, op, domain) \
  Tensor name(const Operand& x, const Operand& y) { return meet(#name, op, {&x, &y}, Domain::domain); }
PLUMB_BINARY(mul, "mul", no_bool)
PLUMB_BINARY(div, "div", floating)
PLUMB_BINARY(floor_divide, "floor_div", no_bool)
PLUMB_BINARY(remainder, "remainder", no_bool)
PLUMB_BINARY(fmod, "fmod", no_bool)
PLUMB_BINARY(pow, "pow", no_bool)
PLUMB_BINARY(atan2, "atan2", floating)
PLUMB_BINARY(hypot, "hypot", floating)
PLUMB_BINARY(maximum, "maximum", any)
PLUMB_BINARY(minimum, "minimum", any)
PLUMB_BINARY(eq, "eq", any)
PLUMB_BINARY(ne, "ne", any)
PLUMB_BINARY(lt, "lt", any)
PLUMB_BINARY(le, "le", any)
PLUMB_BINARY(gt, "gt", any)
PLUMB_BINARY(ge, "ge", any)
PLUMB_BINARY(logical_and, "logical_and", any)
PLUMB_BINARY(logical_or, "logical_or", any)
PLUMB_BINARY(logical_xor, "logical_xor", any)
PLUMB_BINARY(bitwise_and, "and", any)
PLUMB_BINARY(bitwise_or, "or", any)
PLUMB_BINARY(bitwise_xor, "xor", any)
PLUMB_BINARY(bitwise_left_shift, "shift_left", no_bool)
PLUMB_BINARY(bitwise_right_shift, "shift_right", no_bool)
#undef PLUMB_BINARY

#define PLUMB_UNARY(name, op, domain) \
  Tensor name(const Operand& x) { return meet(#name, op, {&x}, Domain::domain); }
PLUMB_UNARY(abs, "abs", no_bool)
PLUMB_UNARY(neg, "neg", no_bool)
PLUMB_UNARY(sign, "sign", no_bool)
PLUMB_UNARY(reciprocal, "reciprocal", floating)
PLUMB_UNARY(exp, "exp", floating)
PLUMB_UNARY(exp2, "exp2", floating)
PLUMB_UNARY(expm1, "expm1", floating)
PLUMB_UNARY(log, "log", floating)
PLUMB_UNARY(log2, "log2", floating)
PLUMB_UNARY(log10, "log10", floating)
PLUMB_UNARY(log1p, "log1p", floating)
PLUMB_UNARY(sqrt, "sqrt", floating)
PLUMB_UNARY(rsqrt, "rsqrt", floating)
PLUMB_UNARY(cbrt, "cbrt", floating)
PLUMB_UNARY(sin, "sin", floating)
PLUMB_UNARY(cos, "cos", floating)
PLUMB_UNARY(tan, "tan", floating)
PLUMB_UNARY(asin, "asin", floating)
PLUMB_UNARY(acos, "acos", floating)
PLUMB_UNARY(atan, "atan", floating)
PLUMB_UNARY(sinh, "sinh", floating)
PLUMB_UNARY(cosh, "cosh", floating)
PLUMB_UNARY(tanh, "tanh", floating)
PLUMB_UNARY(asinh, "asinh", floating)
PLUMB_UNARY(acosh, "acosh", floating)
PLUMB_UNARY(atanh, "atanh", floating)
PLUMB_UNARY(erf, "erf", floating)
PLUMB_UNARY(erfc, "erfc", floating)
PLUMB_UNARY(logical_not, "logical_not", any)
PLUMB_UNARY(bitwise_not, "not", any)
PLUMB_UNARY(real, "real", floating)
PLUMB_UNARY(imag, "imag", floating)
PLUMB_UNARY(conj, "conj", floating)
PLUMB_UNARY(sigmoid, "sigmoid", floating)
PLUMB_UNARY(relu, "relu", no_bool)
PLUMB_UNARY(silu, "silu", floating)
PLUMB_UNARY(selu, "selu", floating)
PLUMB_UNARY(mish, "mish", floating)
PLUMB_UNARY(hardswish, "hard_swish", floating)
PLUMB_UNARY(hardsigmoid, "hard_sigmoid", floating)
PLUMB_UNARY(logsigmoid, "log_sigmoid", floating)
PLUMB_UNARY(softsign, "softsign", floating)
#undef PLUMB_UNARY

namespace {

/// Rounding leaves integers as they are; of them, none is NaN or infinite.
Tensor of_floats_only(const char* name, const char* op, const Operand& x) {
  const auto t = eager::tensors_of({&x}, name)[0];
  if (is_float(t.dtype())) return eager::apply1(op, {t}, {}, x.here());
  return t.clone(x.here());
}
Tensor test_of_floats(const char* name, const char* op, const Operand& x, bool otherwise) {
  const auto t = eager::tensors_of({&x}, name)[0];
  if (is_float(t.dtype())) return eager::apply1(op, {t}, {}, x.here());
  return full(t.sizes(), Operand(otherwise, x.here()), kBool);
}

/// x + alpha y as one operation.
Tensor scaled_sum(const char* name, const char* op, const Operand& x, const Operand& y, double alpha) {
  if (alpha == 1) return meet(name, op, {&x, &y}, Domain::no_bool);
  const Operand scaled(mul(y, Operand(alpha, y.here())), y.here());
  return meet(name, op, {&x, &scaled}, Domain::no_bool);
}

}  // namespace

Tensor square(const Operand& x) {
  const auto t = eager::tensors_of({&x}, "square")[0];
  return eager::call("square", "", {t}, x.here(), [](Builder& b, const Values& in) { return Values{b.op("mul", {in[0], in[0]})}; }).at(0);
}

Tensor add(const Operand& x, const Operand& y, double alpha) { return scaled_sum("add", "add", x, y, alpha); }
Tensor sub(const Operand& x, const Operand& y, double alpha) { return scaled_sum("sub", "sub", x, y, alpha); }

Tensor floor(const Operand& x) { return of_floats_only("floor", "floor", x); }
Tensor ceil(const Operand& x) { return of_floats_only("ceil", "ceil", x); }
Tensor trunc(const Operand& x) { return of_floats_only("trunc", "trunc", x); }
Tensor round(const Operand& x) { return of_floats_only("round", "round_even", x); }
Tensor isnan(const Operand& x) { return test_of_floats("isnan", "is_nan", x, false); }
Tensor isinf(const Operand& x) { return test_of_floats("isinf", "is_inf", x, false); }
Tensor isfinite(const Operand& x) { return test_of_floats("isfinite", "is_finite", x, true); }

Tensor where(const Tensor& condition, const Operand& x, const Operand& y) {
  const auto here = x.here();
  eager::get(condition, here, "where");
  if (condition.dtype() != kBool) eager::fail(here, "where: the condition is " + eager::describe(condition) + ", not bool; compare it with something");
  auto in = eager::tensors_of({&x, &y}, "where");
  const auto dtype = eager::meeting_dtype(in);
  return eager::call("where", std::string(1, static_cast<char>(dtype)), {condition, in[0], in[1]}, here, [&](Builder& b, const Values& v) {
    ir::Shape shape = b.type(v[0]).shape;
    for (auto k : {v[1], v[2]}) {
      auto next = ir::broadcast_shapes(shape, b.type(k).shape);
      if (auto* why = std::get_if<std::string>(&next)) fail_input(*why + "; sizes must be equal, or 1, from the last axis on");
      shape = std::get<ir::Shape>(next);
    }
    return Values{b.op("select", {b.broadcast_to(v[0], shape), b.broadcast_to(b.convert(v[1], dtype), shape), b.broadcast_to(b.convert(v[2], dtype), shape)})};
  }).at(0);
}
Tensor masked_fill(const Operand& x, const Tensor& mask, const Operand& value) {
  const auto t = eager::tensor_of(x);
  return where(mask, Operand(eager::tensor_of(value).to(t.dtype(), x.here()), x.here()), x);
}

Tensor lerp(const Operand& x, const Operand& y, const Operand& weight) { return meet("lerp", "lerp", {&x, &y, &weight}, Domain::floating); }
Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, double value) { return meet("addcmul", "addcmul", {&x, &a, &b}, Domain::no_bool, attrs({{"value", value}})); }
Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, double value) { return meet("addcdiv", "addcdiv", {&x, &a, &b}, Domain::floating, attrs({{"value", value}})); }

Tensor clamp(const Operand& x, std::optional<double> low, std::optional<double> high) {
  if (!low && !high) eager::fail(x.here(), "clamp: neither a lower nor an upper bound is given");
  const Operand lo(low.value_or(0), x.here()), hi(high.value_or(0), x.here());
  if (!high) return maximum(x, lo);
  return low ? meet("clamp", "clamp", {&x, &lo, &hi}, Domain::any) : minimum(x, hi);
}

Tensor nan_to_num(const Operand& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  const auto dtype = eager::meeting_dtype(eager::tensors_of({&x}, "nan_to_num"), Domain::floating);
  const double most = is_complex(dtype) ? 0 : std::ldexp(2 - std::ldexp(1.0, 1 - row(dtype).precision - (dtype == DType::f8e4m3fn ? -1 : 0)), row(dtype).emax);
  return eager::float_map("nan_to_num", "nan_to_num", x, attrs({{"nan", nan}, {"posinf", posinf.value_or(most)}, {"neginf", neginf.value_or(-most)}}));
}
Tensor complex(const Operand& re, const Operand& im) { return meet("complex", "complex", {&re, &im}, Domain::floating); }

Tensor gelu(const Operand& x, bool approximate) { return eager::float_map("gelu", "gelu", x, attrs({{"approximate", approximate}})); }
Tensor elu(const Operand& x, double alpha) { return eager::float_map("elu", "elu", x, attrs({{"alpha", alpha}})); }
Tensor leaky_relu(const Operand& x, double slope) { return eager::float_map("leaky_relu", "leaky_relu", x, attrs({{"slope", slope}})); }
Tensor softplus(const Operand& x, double beta, double threshold) { return eager::float_map("softplus", "softplus", x, attrs({{"beta", beta}, {"threshold", threshold}})); }
Tensor hardtanh(const Operand& x, double low, double high) { return eager::float_map("hardtanh", "hardtanh", x, attrs({{"low", low}, {"high", high}})); }

Tensor operator+(const Operand& x, const Operand& y) { return add(x, y); }
Tensor operator-(const Operand& x, const Operand& y) { return sub(x, y); }
Tensor operator*(const Operand& x, const Operand& y) { return mul(x, y); }
Tensor operator/(const Operand& x, const Operand& y) { return div(x, y); }
Tensor operator%(const Operand& x, const Operand& y) { return remainder(x, y); }
Tensor operator==(const Operand& x, const Operand& y) { return eq(x, y); }
Tensor operator!=(const Operand& x, const Operand& y) { return ne(x, y); }
Tensor operator<(const Operand& x, const Operand& y) { return lt(x, y); }
Tensor operator<=(const Operand& x, const Operand& y) { return le(x, y); }
Tensor operator>(const Operand& x, const Operand& y) { return gt(x, y); }
Tensor operator>=(const Operand& x, const Operand& y) { return ge(x, y); }
Tensor operator&(const Operand& x, const Operand& y) { return bitwise_and(x, y); }
Tensor operator|(const Operand& x, const Operand& y) { return bitwise_or(x, y); }
Tensor operator^(const Operand& x, const Operand& y) { return bitwise_xor(x, y); }

}  // namespace plumb

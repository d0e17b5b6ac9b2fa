#include "verify/residual.h"

#include "ir/tensor/op_table.h"
#include "verify/internal/residual.h"

namespace plumb::verify {
namespace {

template <class T> void judge(const ir::Node& n, std::span<const ir::Literal> in, std::span<const ir::Literal> out, Findings f) {
  const auto op = ir::name(n);
  if (op == "qr" || op == "eigh" || op == "svd") judge_orthogonal<T>(n, in, out, f);
  else judge_triangular<T>(n, in, out, f);
}

}  // namespace

Residual judge_library(const ir::Node& n, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) {
  Residual r;
  const Findings f(r);
  const bool wide = inputs[0].dtype() == DType::f64;
  if (n.attrs.flag("complex")) wide ? judge<std::complex<double>>(n, inputs, outputs, f) : judge<std::complex<float>>(n, inputs, outputs, f);
  else wide ? judge<double>(n, inputs, outputs, f) : judge<float>(n, inputs, outputs, f);
  return r;
}

}  // namespace plumb::verify

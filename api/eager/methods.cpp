// The methods that are functions, and those that change their tensor.
#include "api/eager/dispatch.h"
#include "api/include/plumb/functions.h"

namespace plumb {

Tensor Tensor::add(const Operand& y, double alpha) const { return plumb::add(Operand(*this, y.here()), y, alpha); }
Tensor Tensor::sub(const Operand& y, double alpha) const { return plumb::sub(Operand(*this, y.here()), y, alpha); }
Tensor Tensor::mul(const Operand& y) const { return plumb::mul(Operand(*this, y.here()), y); }
Tensor Tensor::div(const Operand& y) const { return plumb::div(Operand(*this, y.here()), y); }
Tensor Tensor::pow(const Operand& y) const { return plumb::pow(Operand(*this, y.here()), y); }
Tensor Tensor::matmul(const Operand& y) const { return plumb::matmul(Operand(*this, y.here()), y); }
Tensor Tensor::mm(const Operand& y) const { return plumb::mm(Operand(*this, y.here()), y); }
Tensor Tensor::eq(const Operand& y) const { return plumb::eq(Operand(*this, y.here()), y); }
Tensor Tensor::ne(const Operand& y) const { return plumb::ne(Operand(*this, y.here()), y); }
Tensor Tensor::lt(const Operand& y) const { return plumb::lt(Operand(*this, y.here()), y); }
Tensor Tensor::le(const Operand& y) const { return plumb::le(Operand(*this, y.here()), y); }
Tensor Tensor::gt(const Operand& y) const { return plumb::gt(Operand(*this, y.here()), y); }
Tensor Tensor::ge(const Operand& y) const { return plumb::ge(Operand(*this, y.here()), y); }
Tensor Tensor::abs(Here here) const { return plumb::abs(Operand(*this, here)); }
Tensor Tensor::exp(Here here) const { return plumb::exp(Operand(*this, here)); }
Tensor Tensor::log(Here here) const { return plumb::log(Operand(*this, here)); }
Tensor Tensor::sqrt(Here here) const { return plumb::sqrt(Operand(*this, here)); }
Tensor Tensor::square(Here here) const { return plumb::square(Operand(*this, here)); }
Tensor Tensor::sin(Here here) const { return plumb::sin(Operand(*this, here)); }
Tensor Tensor::cos(Here here) const { return plumb::cos(Operand(*this, here)); }
Tensor Tensor::tanh(Here here) const { return plumb::tanh(Operand(*this, here)); }
Tensor Tensor::sigmoid(Here here) const { return plumb::sigmoid(Operand(*this, here)); }
Tensor Tensor::relu(Here here) const { return plumb::relu(Operand(*this, here)); }
Tensor Tensor::clamp(std::optional<double> low, std::optional<double> high, Here here) const { return plumb::clamp(Operand(*this, here), low, high); }
Tensor Tensor::sum(Here here) const { return plumb::sum(Operand(*this, here)); }
Tensor Tensor::sum(Sizes dims, bool keepdim, Here here) const { return plumb::sum(Operand(*this, here), dims, keepdim); }
Tensor Tensor::mean(Here here) const { return plumb::mean(Operand(*this, here)); }
Tensor Tensor::mean(Sizes dims, bool keepdim, Here here) const { return plumb::mean(Operand(*this, here), dims, keepdim); }
Tensor Tensor::var(Sizes dims, double correction, bool keepdim, Here here) const { return plumb::var(Operand(*this, here), dims, correction, keepdim); }
Tensor Tensor::amax(Sizes dims, bool keepdim, Here here) const { return plumb::amax(Operand(*this, here), dims, keepdim); }
Tensor Tensor::amin(Sizes dims, bool keepdim, Here here) const { return plumb::amin(Operand(*this, here), dims, keepdim); }
Tensor Tensor::max(Here here) const { return plumb::amax(Operand(*this, here)); }
Tensor Tensor::min(Here here) const { return plumb::amin(Operand(*this, here)); }
Tensor Tensor::prod(Here here) const { return plumb::prod(Operand(*this, here)); }
Tensor Tensor::any(Here here) const { return plumb::any(Operand(*this, here)); }
Tensor Tensor::all(Here here) const { return plumb::all(Operand(*this, here)); }
Tensor Tensor::argmax(std::optional<std::int64_t> d, bool keepdim, Here here) const { return plumb::argmax(Operand(*this, here), d, keepdim); }
Tensor Tensor::argmin(std::optional<std::int64_t> d, bool keepdim, Here here) const { return plumb::argmin(Operand(*this, here), d, keepdim); }
Tensor Tensor::norm(double p, Here here) const { return plumb::norm(Operand(*this, here), p); }
Tensor Tensor::cumsum(std::int64_t d, Here here) const { return plumb::cumsum(Operand(*this, here), d); }
Tensor Tensor::softmax(std::int64_t d, Here here) const { return plumb::softmax(Operand(*this, here), d); }
Tensor Tensor::log_softmax(std::int64_t d, Here here) const { return plumb::log_softmax(Operand(*this, here), d); }
Tensor Tensor::gather(std::int64_t d, const Tensor& index, Here here) const { return plumb::gather(Operand(*this, here), d, index); }
Tensor Tensor::masked_fill(const Tensor& mask, const Operand& value) const { return plumb::masked_fill(Operand(*this, value.here()), mask, value); }
Tensor Tensor::operator-() const { return plumb::neg(*this); }
Tensor Tensor::operator!() const { return plumb::logical_not(*this); }

namespace {

/// The tensor becomes the value.
Tensor& becomes(Tensor& t, const char* name, const Tensor& value, Here here) {
  eager::write(t, value, name, here);
  return t;
}

}  // namespace

Tensor& Tensor::copy_(const Operand& from) {
  eager::get(*this, from.here(), "copy_");
  const auto value = eager::tensor_of(from);
  eager::get(value, from.here(), "copy_");
  return becomes(*this, "copy_", value, from.here());
}
Tensor& Tensor::fill_(const Operand& value) { return copy_(value); }
Tensor& Tensor::zero_(Here here) { return copy_(Operand(0, here)); }
Tensor& Tensor::add_(const Operand& y, double alpha) { return becomes(*this, "add_", add(y, alpha), y.here()); }
Tensor& Tensor::sub_(const Operand& y, double alpha) { return becomes(*this, "sub_", sub(y, alpha), y.here()); }
Tensor& Tensor::mul_(const Operand& y) { return becomes(*this, "mul_", mul(y), y.here()); }
Tensor& Tensor::div_(const Operand& y) { return becomes(*this, "div_", div(y), y.here()); }
Tensor& Tensor::addcmul_(const Operand& a, const Operand& b, double value) { return becomes(*this, "addcmul_", plumb::addcmul(Operand(*this, a.here()), a, b, value), a.here()); }
Tensor& Tensor::addcdiv_(const Operand& a, const Operand& b, double value) { return becomes(*this, "addcdiv_", plumb::addcdiv(Operand(*this, a.here()), a, b, value), a.here()); }
Tensor& Tensor::lerp_(const Operand& end, const Operand& weight) { return becomes(*this, "lerp_", plumb::lerp(Operand(*this, end.here()), end, weight), end.here()); }
Tensor& Tensor::clamp_(std::optional<double> low, std::optional<double> high, Here here) { return becomes(*this, "clamp_", clamp(low, high, here), here); }
Tensor& Tensor::masked_fill_(const Tensor& mask, const Operand& value) { return becomes(*this, "masked_fill_", masked_fill(mask, value), value.here()); }
Tensor& Tensor::operator+=(const Operand& y) { return add_(y); }
Tensor& Tensor::operator-=(const Operand& y) { return sub_(y); }
Tensor& Tensor::operator*=(const Operand& y) { return mul_(y); }
Tensor& Tensor::operator/=(const Operand& y) { return div_(y); }

}  // namespace plumb

// Derivatives against differences.
#include <algorithm>
#include <cmath>

#include "api/eager/dispatch.h"
#include "api/include/plumb/autograd.h"

namespace plumb {
namespace {

/// The outputs' weighted sum as a number, in f64. Weights are odd multiples of 2^-4, so that no two outputs cancel by symmetry.
Tensor weighted(const std::vector<Tensor>& outputs, Here here) {
  Tensor total;
  std::int64_t seed = 0;
  for (const auto& y : outputs) {
    if (!is_float(y.dtype())) continue;
    const auto n = y.numel();
    const auto w = (remainder(Operand(arange(seed, seed + n, 1, {}, here) * Operand(5, here), here), Operand(7, here)) * Operand(2, here) + Operand(1, here)).to(kDouble, here) / Operand(16, here);
    const auto part = sum(Operand(y.to(kDouble, here).reshape({-1}, here), here) * Operand(w, here));
    total = total.defined() ? total + Operand(part, here) : part;
    seed += n;
  }
  if (!total.defined()) eager::fail(here, "check_gradients: the function gave no floats");
  return total;
}

}  // namespace

GradientCheck check_gradients(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs, Here here) {
  std::vector<Tensor> x, wanted;
  for (const auto& t : inputs) {
    eager::get(t, here, "check_gradients");
    const bool taken = is_float(t.dtype()) && (t.requires_grad() || std::none_of(inputs.begin(), inputs.end(), [](const auto& i) { return i.requires_grad(); }));
    x.push_back((is_float(t.dtype()) ? t.detach().to(kDouble, here) : t.detach()).clone(here));
    if (taken) wanted.push_back(x.back().requires_grad_(true, here));
  }
  const auto gradients = plumb::grad({weighted(f(x), here)}, wanted, {}, {.allow_unused = true}, here);
  const NoGradGuard off;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto g = gradients[k].defined() ? gradients[k].to_vector<double>(here) : std::vector<double>(static_cast<std::size_t>(wanted[k].numel()), 0);
    double greatest = 1;
    for (double v : g) greatest = std::max(greatest, std::fabs(v));
    auto* elements = wanted[k].data_ptr<double>(here);
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double at = elements[i];
      const auto slope = [&](double step) {
        elements[i] = at + step;
        const double up = weighted(f(x), here).item<double>(here);
        elements[i] = at - step;
        const double down = weighted(f(x), here).item<double>(here);
        elements[i] = at;
        return (up - down) / (2 * step);
      };
      // An even series in the step: each level removes its next power.
      const double h = 0x1p-9 * std::max(1.0, std::fabs(at)), d1 = slope(h), d2 = slope(h / 2), d3 = slope(h / 4);
      const double e1 = (4 * d2 - d1) / 3, e2 = (4 * d3 - d2) / 3, best = (16 * e2 - e1) / 15;
      const double allowed = 4 * std::fabs(e2 - e1) + greatest * 0x1p-20;
      if (std::fabs(best - g[i]) <= allowed || (std::isnan(best) && std::isnan(g[i]))) continue;
      return {false, "the gradient by element " + std::to_string(i) + " of input " + std::to_string(std::find_if(x.begin(), x.end(), [&](const auto& t) { return t.impl() == wanted[k].impl(); }) - x.begin()) + " is " + std::to_string(g[i]) + "; differences give " +
                         std::to_string(best) + ", to within " + std::to_string(allowed)};
    }
  }
  return {};
}

}  // namespace plumb

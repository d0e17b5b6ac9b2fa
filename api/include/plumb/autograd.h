// The tape: gradients of what was computed, and operations with derivatives of the caller's own.
#pragma once
#include <any>
#include <map>

#include <plumb/functions.h>

namespace plumb {

struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;    ///< the gradients can be differentiated in turn
  bool allow_unused = false;    ///< an input that the outputs do not depend on has an undefined gradient, not an error
};
/// The gradients of the inputs: of the outputs' sum, or with `grad_outputs` of their sum times these. Leaves' grad() stays.
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, const std::vector<Tensor>& grad_outputs = {}, const GradOptions& options = {}, Here here = Here::current());

/// Whether this thread's operations go onto the tape.
bool is_grad_enabled();
/// Sets that as long as it lives.
class AutoGradMode {
 public:
  explicit AutoGradMode(bool on);
  ~AutoGradMode();
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  bool before_;
};
struct NoGradGuard : AutoGradMode {
  NoGradGuard() : AutoGradMode(false) {}
};
/// As long as it lives, a backward of this thread that makes a NaN throws, naming the line that computed forward.
class AnomalyGuard {
 public:
  AnomalyGuard();
  ~AnomalyGuard();
  AnomalyGuard(const AnomalyGuard&) = delete;
  AnomalyGuard& operator=(const AnomalyGuard&) = delete;

 private:
  bool before_;
};

/// What a custom function hands from its forward to its backward.
class AutogradContext {
 public:
  void save_for_backward(std::vector<Tensor> tensors) { saved_ = std::move(tensors); }
  const std::vector<Tensor>& get_saved_variables() const { return saved_; }
  bool needs_input_grad(std::size_t input) const { return wanted_.at(input); }
  std::map<std::string, std::any> saved_data;

 private:
  friend struct CustomCall;
  std::vector<Tensor> saved_;
  std::vector<bool> wanted_;
};

/// The erased form of a custom function.
struct CustomCall {
  std::string name;
  std::function<std::vector<Tensor>(AutogradContext&)> forward;
  std::function<std::vector<Tensor>(AutogradContext&, std::vector<Tensor>)> backward;
  std::vector<Tensor> run(const std::vector<Tensor>& inputs, Here here) const;
};

/// A function with a derivative of the caller's own:
///
///   struct Cube : plumb::Function<Cube> {
///     static std::vector<Tensor> forward(AutogradContext& ctx, const std::vector<Tensor>& x) { ctx.save_for_backward(x); return {x[0] * x[0] * x[0]}; }
///     static std::vector<Tensor> backward(AutogradContext& ctx, const std::vector<Tensor>& g) { const auto x = ctx.get_saved_variables()[0]; return {g[0] * 3 * x * x}; }
///   };
///   auto y = Cube::apply({x})[0];
///
/// forward runs off the tape. backward gets a gradient for each result, zeros where none arrived, and gives one for each input;
/// an undefined one is zero. What backward computes is taped where a backward asks for create_graph.
template <class T> struct Function {
  static std::vector<Tensor> apply(const std::vector<Tensor>& inputs, Here here = Here::current()) {
    return CustomCall{"a custom function", [&](AutogradContext& c) { return T::forward(c, inputs); }, [](AutogradContext& c, std::vector<Tensor> g) { return T::backward(c, std::move(g)); }}.run(inputs, here);
  }
};

/// What check_gradients found.
struct GradientCheck {
  bool passed = true;
  std::string message;   ///< of the first fault: which input, which element, the two numbers
};
/// Whether the derivative that the tape gives of f, a function of float tensors, is that of f. Each element of each input
/// requiring a gradient is moved by ±2^-k for three k, in f64, and the central differences are extrapolated (Richardson);
/// the gradient must agree to within what the last two extrapolations differ by, and 2^-20 of the greatest. A smoke test by nature:
/// points within 2^-8 of a kink may be judged wrongly.
GradientCheck check_gradients(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& inputs, Here here = Here::current());

}  // namespace plumb

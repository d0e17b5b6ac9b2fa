// Transforms: callables from tensors to tensors become their derivatives, to any order, and compose with compile.
#pragma once
#include <plumb/autograd.h>
#include <plumb/pack.h>

namespace plumb {

/// Pulls cotangents of a function's results back to its arguments.
class Pullback {
 public:
  Pullback(std::vector<Tensor> outputs, std::vector<Tensor> inputs) : outputs_(std::move(outputs)), inputs_(std::move(inputs)) {}
  /// A cotangent for each result; a tensor for each argument: zeros where a result does not depend on it.
  std::vector<Tensor> operator()(const std::vector<Tensor>& cotangents, Here here = Here::current()) const;

 private:
  std::vector<Tensor> outputs_, inputs_;
};

namespace transform {

using Body = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
std::vector<Tensor> leaves(const std::vector<Tensor>& inputs, Here here);
/// The one result's gradient by each of `inputs`, which `leaves` made.
std::vector<Tensor> gradients(const Tensor& output, const std::vector<Tensor>& inputs, Here here);
/// Results without the tape that the transform made, where nothing of the caller's depends on it.
std::vector<Tensor> settled(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);
/// Results and their tangents.
std::pair<std::vector<Tensor>, std::vector<Tensor>> forward(const Body& f, const std::vector<Tensor>& primals, const std::vector<Tensor>& tangents, Here here);
Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x, Here here);
std::vector<Tensor> checkpointed(const Body& f, const std::vector<Tensor>& inputs, Here here);

}  // namespace transform

/// (x, …) ↦ the gradient of f(x, …), one float, by x: of x's dtype and sizes. f may take more arguments.
template <class F> auto grad(F f, Here here = Here::current()) {
  return [f = std::move(f), here](const Tensor& x, const auto&... rest) {
    const auto in = transform::leaves({x}, here);
    return transform::gradients(f(in[0], rest...), in, here)[0];
  };
}
/// The same, with the value first.
template <class F> auto value_and_grad(F f, Here here = Here::current()) {
  return [f = std::move(f), here](const Tensor& x, const auto&... rest) {
    const auto in = transform::leaves({x}, here);
    const Tensor y = f(in[0], rest...);
    auto g = transform::gradients(y, in, here)[0];
    return std::pair<Tensor, Tensor>{transform::settled({y}, in)[0], std::move(g)};
  };
}
/// (arguments…) ↦ f's results, and what pulls their cotangents back.
template <class F> auto vjp(F f, Here here = Here::current()) {
  return [f = std::move(f), here](const auto&... args) {
    const auto in = transform::leaves({args...}, here);
    const auto y = pack::spread<sizeof...(args)>(f, in);
    return std::pair{y, Pullback(pack::flat(y), in)};
  };
}
/// (primals…, tangents…) ↦ f's results at the primals and their tangents: forward mode.
template <class F> auto jvp(F f, Here here = Here::current()) {
  return [f = std::move(f), here](const auto&... args) {
    static_assert(sizeof...(args) % 2 == 0 && sizeof...(args) > 0, "a jvp takes the arguments, then a tangent for each");
    const std::vector<Tensor> all{args...};
    constexpr auto half = sizeof...(args) / 2;
    std::decay_t<decltype(pack::spread<half>(f, all))> like;
    const auto body = [&](const std::vector<Tensor>& x) { return pack::flat(like = pack::spread<half>(f, x)); };
    const auto [y, u] = transform::forward(body, {all.begin(), all.begin() + half}, {all.begin() + half, all.end()}, here);
    return std::pair{pack::rebuilt(like, y), pack::rebuilt(like, u)};
  };
}
/// x ↦ the derivatives of f(x), sizes f(x).sizes() then x.sizes(), by reverse mode, a row at a time.
template <class F> auto jacobian(F f, Here here = Here::current()) {
  return [f = std::move(f), here](const Tensor& x, const auto&... rest) { return transform::jacobian([&](const Tensor& v) -> Tensor { return f(v, rest...); }, x, here); };
}
/// x ↦ the second derivatives of f(x), one float: sizes x.sizes() twice.
template <class F> auto hessian(F f, Here here = Here::current()) { return jacobian(grad(std::move(f), here), here); }
/// f, which forgets what it computed on the way and computes it again when its gradient is asked for. Random numbers are
/// drawn as in the first run. Gradients of tensors that f captured are accumulated into those that are leaves.
template <class F> auto checkpoint(F f, Here here = Here::current()) {
  return [f = std::move(f), here](const auto&... args) {
    const auto like = std::make_shared<std::decay_t<decltype(f(args...))>>();
    const auto body = [f, like](const std::vector<Tensor>& in) { return pack::flat(*like = pack::spread<sizeof...(args)>(f, in)); };
    const auto out = transform::checkpointed(body, {args...}, here);
    return pack::rebuilt(*like, out);
  };
}

}  // namespace plumb

// plumb::compile: a callable, captured once for each kind of call, runs as compiled kernels.
#pragma once
#include <plumb/autograd.h>
#include <plumb/pack.h>
#include <plumb/program.h>

namespace plumb {

struct CompileOptions {
  std::string target = "cpu";             ///< or "cuda", "simt", "reference"
  Check check = Check::off;
  std::string contract = "relaxed";       ///< or "strict": the same bits as eager; or "fast"
  std::vector<std::string> allow = {};    ///< with fast: "tf32", "ftz", "approximate"
  double sample_rate = 1;                 ///< check a share of the calls: 0.01 is about one in a hundred
  std::function<void(const CheckReport&)> on_report = {};   ///< gets each checked call's report; without it, a failure throws
};

/// What compile did so far.
struct CompileStatistics {
  std::int64_t captures = 0;   ///< how often the callable ran to be captured
  std::int64_t calls = 0, checked = 0;
  std::int64_t kernels = 0;    ///< of the last capture
  std::string last_reason;     ///< why the last capture was made
};

/// The erased form of a compiled callable. Copies share captures.
class CompiledFunction {
 public:
  using Body = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  CompiledFunction(CompileOptions options, Here here);
  /// Captures `body` where no capture for `key` and these inputs' dtypes and sizes stands, then runs the captured program.
  std::vector<Tensor> run(const std::string& key, const std::vector<Tensor>& inputs, const Body& body) const;
  CompileStatistics statistics() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// What compile returns: called as the callable is.
template <class F> class Compiled {
 public:
  Compiled(F f, CompileOptions options, Here here) : f_(std::move(f)), function_(std::move(options), here) {}

  template <class... A> auto operator()(const A&... args) const {
    using R = std::decay_t<std::invoke_result_t<const F&, const A&...>>;
    std::vector<Tensor> inputs;
    std::string key;
    (note(args, inputs, key), ...);
    const auto call = [&](const std::vector<Tensor>& in) {
      const Tensor* next = in.data();
      return std::apply(f_, std::tuple<std::decay_t<A>...>{replaced<std::decay_t<A>>(args, next)...});   // braces: in order
    };
    if constexpr (std::is_void_v<R>) {
      function_.run(key, inputs, [&](const std::vector<Tensor>& in) { return call(in), std::vector<Tensor>(); });
    } else {
      static_assert(pack::Tensors<R>, "a compiled callable gives tensors, or vectors, arrays, pairs or tuples of them");
      // What the results are packed in: it is as the last capture for the key left it.
      const auto out = function_.run(key, inputs, [&](const std::vector<Tensor>& in) {
        const R r = call(in);
        shapes_->insert_or_assign(key, r);
        return pack::flat(r);
      });
      return pack::rebuilt(std::any_cast<const R&>(shapes_->at(key)), out);
    }
  }
  CompileStatistics statistics() const { return function_.statistics(); }

 private:
  template <class T> static void note(const T& arg, std::vector<Tensor>& inputs, std::string& key) {
    if constexpr (pack::Tensors<T>) {
      const auto before = inputs.size();
      pack::Packed<std::decay_t<T>>::take(arg, inputs);
      key += "t" + std::to_string(inputs.size() - before) + ",";
    } else if constexpr (Arithmetic<T> || std::is_enum_v<T>) {
      key.append(reinterpret_cast<const char*>(&arg), sizeof arg).push_back(',');
    } else {
      static_assert(std::is_convertible_v<T, std::string>, "an argument is tensors, a number, an enumerator or a string");
      key += std::string(arg) + ",";
    }
  }
  template <class T> static T replaced(const T& arg, const Tensor*& next) {
    if constexpr (pack::Tensors<T>) return pack::Packed<std::decay_t<T>>::give(arg, next);
    else return arg;
  }

  F f_;
  CompiledFunction function_;
  std::shared_ptr<std::map<std::string, std::any>> shapes_ = std::make_shared<std::map<std::string, std::any>>();
};

/// A callable from tensors (and numbers) to tensors that runs as compiled kernels. It is captured at the first call: every
/// operation of that run is recorded, backward passes and changes in place of tensors from outside included; such tensors
/// (parameters, an optimizer's state, a generator) are read and written at each call. A call with other dtypes, sizes, numbers
/// or requires_grad captures anew, and so does one whose gradients were defined otherwise. Values are not known while a
/// function is captured: item() is an error then, and control flow that does not depend on them is unrolled.
/// The result is differentiable, and can be compiled and transformed in turn.
template <class F> Compiled<F> compile(F f, CompileOptions options = {}, Here here = Here::current()) { return Compiled<F>(std::move(f), std::move(options), here); }

}  // namespace plumb

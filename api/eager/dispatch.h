// From an operation and tensors to tensors: on the reference or compiled, onto the tape, into a capture, with tangents.
#pragma once
#include "api/eager/op_program.h"
#include "api/eager/tape.h"
#include "ir/tensor/builder.h"

namespace plumb::eager {

/// A reference to a callable that outlives the call it is passed to.
template <class> class FunctionRef;
template <class R, class... A> class FunctionRef<R(A...)> {
 public:
  template <class F> FunctionRef(F&& f) : object_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* o, A... a) -> R { return (*static_cast<std::remove_reference_t<F>*>(o))(std::forward<A>(a)...); }) {}  // NOLINT
  R operator()(A... a) const { return call_(object_, std::forward<A>(a)...); }

 private:
  void* object_;
  R (*call_)(void*, A...);
};

using Values = std::vector<ir::ValueId>;
using Build = FunctionRef<Values(ir::Builder&, const Values&)>;

/// The program of an operation for these inputs' types; `key` holds what else decides it. Built once.
std::shared_ptr<OpProgram> program_of(std::string_view name, std::string_view key, std::span<const Tensor> inputs, Build build, Here here);
/// Runs a program, or appends it to the capture, with all that follows from it for tapes and tangents.
std::vector<Tensor> run(const std::shared_ptr<OpProgram>& program, std::string_view name, std::vector<Tensor> inputs, Here here);
std::vector<Tensor> call(std::string_view name, std::string_view key, std::vector<Tensor> inputs, Here here, Build build);

/// A forward-mode transform, as long as it lives: tangents of its number are carried along.
struct ForwardLevel {
  ForwardLevel();
  ~ForwardLevel();
  ForwardLevel(const ForwardLevel&) = delete;
  ForwardLevel& operator=(const ForwardLevel&) = delete;
  const int number;
};

/// An operation of the tensor IR on tensors as they are.
std::vector<Tensor> apply(std::string_view op, std::vector<Tensor> inputs, const ir::AttrMap& attrs, Here here);
Tensor apply1(std::string_view op, std::vector<Tensor> inputs, const ir::AttrMap& attrs, Here here);
ir::AttrMap attrs(std::initializer_list<std::pair<std::string_view, ir::AttrValue>> entries);
/// Attributes as part of a key.
std::string key_of(const ir::AttrMap& attrs);

/// A view of x's memory: with these sizes and strides, from this offset in the storage. `build` says what it is of x's elements,
/// `key` what decides that, for tapes and captures.
struct Geometry {
  Sizes sizes, strides;
  std::int64_t offset = 0;
};
Tensor view(std::string_view name, const std::string& key, const Tensor& x, Geometry to, Build build, Here here);
/// The tensor's elements become the value's, converted to its dtype and broadcast to its sizes; the tape follows.
void write(Tensor& target, const Tensor& value, std::string_view name, Here here);

}  // namespace plumb::eager

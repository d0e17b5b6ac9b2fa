// Eager tensors: a line that computes has computed when it returns.
#pragma once
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include <plumb/types.h>

namespace plumb {

namespace eager { struct TensorImpl; }
class Operand;
class Tensor;

template <class T> concept Arithmetic = std::is_arithmetic_v<T>;

/// A part of an axis, as Python's start:stop:step: negative places count from the end, places outside are cut. Steps are positive.
struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
  Slice() = default;
  Slice(std::optional<std::int64_t> from, std::optional<std::int64_t> to = std::nullopt, std::int64_t every = 1) : start(from), stop(to), step(every) {}
};
inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{};

/// One entry of index(): a place, a slice, None (a new axis of size 1), Ellipsis, or a tensor of places (or of bools).
class TensorIndex;

/// A tensor: sizes, a dtype, and elements that views of it share. Copies of a Tensor are the same tensor.
/// Whatever does not fit throws std::runtime_error, naming the caller's line, the operation, the operands and the mend.
/// Different threads may compute with the same tensors as long as none changes one in place.
class Tensor {
 public:
  Tensor() = default;   ///< undefined: holds nothing
  bool defined() const { return impl_ != nullptr; }

  DType dtype() const;
  Sizes sizes() const;
  Sizes strides() const;             ///< in elements
  std::int64_t size(std::int64_t dim, Here here = Here::current()) const;
  std::int64_t dim() const;          ///< how many axes
  std::int64_t numel() const;
  bool is_contiguous() const;
  bool is_floating_point() const;
  bool is_complex() const;
  bool is_view() const;              ///< shares elements of another tensor

  /// The one element of a tensor that has one, converted as C++ does.
  template <Arithmetic T> T item(Here here = Here::current()) const {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(item_real(here));
    else if constexpr (std::is_same_v<T, bool>) return item_real(here) != 0;
    else return static_cast<T>(item_integer(here));
  }
  /// The elements, row-major; converted to T where the dtype is another.
  template <Arithmetic T> std::vector<T> to_vector(Here here = Here::current()) const {
    const auto t = materialised(dtype_of<T>(), here);
    std::vector<T> v(static_cast<std::size_t>(t.numel()));
    t.copy_bytes(v.empty() ? nullptr : &first(v), here);
    return v;
  }
  /// The first element of this very tensor, whose elements lie as strides() says. T must be the dtype's own type. What is
  /// written there, autograd and version checks do not see.
  template <class T> T* data_ptr(Here here = Here::current()) const { return static_cast<T*>(raw(dtype_of<std::remove_const_t<T>>(), here)); }
  void* data_ptr(Here here = Here::current()) const;

  // Autograd.
  bool requires_grad() const;
  Tensor& requires_grad_(bool r = true, Here here = Here::current());
  bool is_leaf() const;
  Tensor grad() const;                       ///< undefined before a backward reached this leaf
  void set_grad(const Tensor& g, Here here = Here::current());
  Tensor& zero_grad();                       ///< makes grad() undefined
  void backward(const Tensor& gradient = {}, bool retain_graph = false, bool create_graph = false, Here here = Here::current()) const;
  Tensor detach() const;                     ///< the same elements, cut from the tape
  void retain_grad();                        ///< keeps grad() of a tensor that is no leaf
  /// Called with the gradient once it is whole; a defined result takes its place.
  void register_hook(std::function<Tensor(const Tensor&)> hook, Here here = Here::current());
  std::string grad_fn() const;               ///< the operation and line that made it; empty for a leaf

  // Views: the same elements under other sizes.
  Tensor view(Sizes sizes, Here here = Here::current()) const;      ///< an error where strides do not allow it
  Tensor reshape(Sizes sizes, Here here = Here::current()) const;   ///< a view where strides allow it, else a copy; one size may be -1
  Tensor flatten(std::int64_t start = 0, std::int64_t end = -1, Here here = Here::current()) const;
  Tensor transpose(std::int64_t a, std::int64_t b, Here here = Here::current()) const;
  Tensor permute(Sizes dims, Here here = Here::current()) const;
  Tensor t(Here here = Here::current()) const;
  Tensor mT(Here here = Here::current()) const;                     ///< the last two axes exchanged
  Tensor unsqueeze(std::int64_t dim, Here here = Here::current()) const;
  Tensor squeeze(std::optional<std::int64_t> dim = {}, Here here = Here::current()) const;
  Tensor expand(Sizes sizes, Here here = Here::current()) const;    ///< stride 0; -1 keeps a size
  Tensor narrow(std::int64_t dim, std::int64_t start, std::int64_t length, Here here = Here::current()) const;
  Tensor select(std::int64_t dim, std::int64_t index, Here here = Here::current()) const;
  Tensor slice(std::int64_t dim, std::optional<std::int64_t> start = {}, std::optional<std::int64_t> end = {}, std::int64_t step = 1, Here here = Here::current()) const;
  Tensor diagonal(std::int64_t offset = 0, std::int64_t dim1 = 0, std::int64_t dim2 = 1, Here here = Here::current()) const;
  Tensor operator[](std::int64_t index) const;
  /// Basic entries give a view, tensors of places a copy, as NumPy.
  Tensor index(const std::vector<TensorIndex>& entries, Here here = Here::current()) const;
  Tensor& index_put_(const std::vector<TensorIndex>& entries, const Operand& value);

  // Copies.
  Tensor clone(Here here = Here::current()) const;
  Tensor contiguous(Here here = Here::current()) const;
  Tensor to(DType dtype, Here here = Here::current()) const;

  // In place. The result keeps this tensor's dtype and sizes; views of it change too.
  Tensor& copy_(const Operand& from);
  Tensor& fill_(const Operand& value);
  Tensor& zero_(Here here = Here::current());
  Tensor& add_(const Operand& other, double alpha = 1);
  Tensor& sub_(const Operand& other, double alpha = 1);
  Tensor& mul_(const Operand& other);
  Tensor& div_(const Operand& other);
  Tensor& addcmul_(const Operand& a, const Operand& b, double value = 1);
  Tensor& addcdiv_(const Operand& a, const Operand& b, double value = 1);
  Tensor& lerp_(const Operand& end, const Operand& weight);
  Tensor& clamp_(std::optional<double> low, std::optional<double> high = {}, Here here = Here::current());
  Tensor& masked_fill_(const Tensor& mask, const Operand& value);
  Tensor& operator+=(const Operand& other);
  Tensor& operator-=(const Operand& other);
  Tensor& operator*=(const Operand& other);
  Tensor& operator/=(const Operand& other);

  // The functions of <plumb/functions.h> that read best behind a dot.
  Tensor add(const Operand& other, double alpha = 1) const;
  Tensor sub(const Operand& other, double alpha = 1) const;
  Tensor mul(const Operand& other) const;
  Tensor div(const Operand& other) const;
  Tensor pow(const Operand& exponent) const;
  Tensor matmul(const Operand& other) const;
  Tensor mm(const Operand& other) const;
  Tensor abs(Here here = Here::current()) const;
  Tensor exp(Here here = Here::current()) const;
  Tensor log(Here here = Here::current()) const;
  Tensor sqrt(Here here = Here::current()) const;
  Tensor square(Here here = Here::current()) const;
  Tensor sin(Here here = Here::current()) const;
  Tensor cos(Here here = Here::current()) const;
  Tensor tanh(Here here = Here::current()) const;
  Tensor sigmoid(Here here = Here::current()) const;
  Tensor relu(Here here = Here::current()) const;
  Tensor clamp(std::optional<double> low, std::optional<double> high = {}, Here here = Here::current()) const;
  Tensor sum(Here here = Here::current()) const;
  Tensor sum(Sizes dims, bool keepdim = false, Here here = Here::current()) const;
  Tensor mean(Here here = Here::current()) const;
  Tensor mean(Sizes dims, bool keepdim = false, Here here = Here::current()) const;
  Tensor var(Sizes dims, double correction = 1, bool keepdim = false, Here here = Here::current()) const;
  Tensor amax(Sizes dims = {}, bool keepdim = false, Here here = Here::current()) const;
  Tensor amin(Sizes dims = {}, bool keepdim = false, Here here = Here::current()) const;
  Tensor max(Here here = Here::current()) const;
  Tensor min(Here here = Here::current()) const;
  Tensor prod(Here here = Here::current()) const;
  Tensor any(Here here = Here::current()) const;
  Tensor all(Here here = Here::current()) const;
  Tensor argmax(std::optional<std::int64_t> dim = {}, bool keepdim = false, Here here = Here::current()) const;
  Tensor argmin(std::optional<std::int64_t> dim = {}, bool keepdim = false, Here here = Here::current()) const;
  Tensor norm(double p = 2, Here here = Here::current()) const;
  Tensor cumsum(std::int64_t dim, Here here = Here::current()) const;
  Tensor softmax(std::int64_t dim, Here here = Here::current()) const;
  Tensor log_softmax(std::int64_t dim, Here here = Here::current()) const;
  Tensor gather(std::int64_t dim, const Tensor& index, Here here = Here::current()) const;
  Tensor masked_fill(const Tensor& mask, const Operand& value) const;
  Tensor eq(const Operand& other) const;
  Tensor ne(const Operand& other) const;
  Tensor lt(const Operand& other) const;
  Tensor le(const Operand& other) const;
  Tensor gt(const Operand& other) const;
  Tensor ge(const Operand& other) const;
  Tensor operator-() const;
  Tensor operator!() const;   ///< logical not

  /// As NumPy prints arrays.
  std::string str() const;

  // For Plumb's own sources.
  explicit Tensor(std::shared_ptr<eager::TensorImpl> impl) : impl_(std::move(impl)) {}
  const std::shared_ptr<eager::TensorImpl>& impl() const { return impl_; }

 private:
  template <class T> static T& first(std::vector<T>& v) { return v.front(); }
  double item_real(Here here) const;
  std::int64_t item_integer(Here here) const;
  Tensor materialised(DType dtype, Here here) const;
  void copy_bytes(void* to, Here here) const;
  void* raw(DType expected, Here here) const;
  std::shared_ptr<eager::TensorImpl> impl_;
};
template <> std::vector<bool> Tensor::to_vector<bool>(Here here) const;

std::ostream& operator<<(std::ostream& out, const Tensor& t);

/// What an operation takes: a tensor, or a number. A number does not raise an operand's dtype within its kind: f32 + 1.0 is
/// f32, i64 + 1.5 is f32. Remembers the caller's line.
class Operand {
 public:
  Operand(const Tensor& t, Here here = Here::current()) : value_(t), here_(here) {}  // NOLINT: a tensor is an operand
  template <Arithmetic T> Operand(T number, Here here = Here::current()) : here_(here) {  // NOLINT: and so is a number
    if constexpr (std::is_same_v<T, bool>) value_ = number;
    else if constexpr (std::is_floating_point_v<T>) value_ = static_cast<double>(number);
    else value_ = static_cast<std::int64_t>(number);
  }
  const std::variant<Tensor, bool, std::int64_t, double>& value() const { return value_; }
  Here here() const { return here_; }

 private:
  std::variant<Tensor, bool, std::int64_t, double> value_;
  Here here_;
};

class TensorIndex {
 public:
  TensorIndex(std::int64_t place) : value_(place) {}  // NOLINT
  TensorIndex(int place) : value_(std::int64_t{place}) {}  // NOLINT
  TensorIndex(Slice s) : value_(s) {}  // NOLINT
  TensorIndex(std::nullopt_t) : value_(std::monostate()) {}  // NOLINT
  TensorIndex(EllipsisType e) : value_(e) {}  // NOLINT
  TensorIndex(Tensor t) : value_(std::move(t)) {}  // NOLINT
  const std::variant<std::monostate, std::int64_t, Slice, EllipsisType, Tensor>& value() const { return value_; }

 private:
  std::variant<std::monostate, std::int64_t, Slice, EllipsisType, Tensor> value_;
};

}  // namespace plumb

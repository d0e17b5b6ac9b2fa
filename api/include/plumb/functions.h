// Functions of tensors, with LibTorch's names where it has them. Operands broadcast by NumPy's rule and meet in the dtype of
// promote_types; where a function needs floats, integers and bools become f32. Axes may count from the end.
//
// Each function is an operation of the specification (interpreter/SPECIFICATION.md), or a few in a row, computed under the
// strict contract: the same bits on every machine.
#pragma once
#include <array>
#include <tuple>

#include <plumb/tensor.h>

namespace plumb {

// --- Making tensors -------------------------------------------------------------------------------------------------------

/// Numbers in nested braces: `tensor({{1, 2}, {3, 4}})`. Integers give i64, reals f32, bools bool.
class TensorData {
 public:
  template <Arithmetic T> TensorData(T x) : kind_(std::is_same_v<T, bool> ? Kind::boolean : std::is_integral_v<T> ? Kind::integer : Kind::real), reals_{static_cast<double>(x)}, integers_{std::is_floating_point_v<T> ? 0 : static_cast<std::int64_t>(x)} {}  // NOLINT
  TensorData(std::initializer_list<TensorData> parts);  // NOLINT
  template <Arithmetic T> TensorData(const std::vector<T>& xs) : sizes_{static_cast<std::int64_t>(xs.size())}, kind_(TensorData(T{}).kind_) {  // NOLINT
    for (const T x : xs) reals_.push_back(static_cast<double>(x)), integers_.push_back(std::is_floating_point_v<T> ? 0 : static_cast<std::int64_t>(x));
  }

 private:
  enum class Kind : std::uint8_t { boolean, integer, real };
  friend Tensor tensor(const TensorData& data, const TensorOptions& options, Here here);
  Sizes sizes_;
  Kind kind_;
  bool ragged_ = false;
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
};
Tensor tensor(const TensorData& data, const TensorOptions& options = {}, Here here = Here::current());
/// A tensor over memory of the caller's, row-major, not copied: `release`, where given, is called when no tensor needs it any more.
Tensor from_blob(void* data, const Sizes& sizes, const TensorOptions& options = {}, std::function<void(void*)> release = {}, Here here = Here::current());

Tensor zeros(const Sizes& sizes, const TensorOptions& options = {}, Here here = Here::current());
Tensor ones(const Sizes& sizes, const TensorOptions& options = {}, Here here = Here::current());
/// Without a dtype: that of the value's kind (i64, f32, bool).
Tensor full(const Sizes& sizes, const Operand& value, const TensorOptions& options = {});
Tensor empty(const Sizes& sizes, const TensorOptions& options = {}, Here here = Here::current());   ///< zeros: no value here is unspecified
Tensor zeros_like(const Tensor& t, Here here = Here::current());
Tensor ones_like(const Tensor& t, Here here = Here::current());
Tensor full_like(const Tensor& t, const Operand& value);
Tensor arange(std::int64_t end, const TensorOptions& options = {}, Here here = Here::current());   ///< i64 unless said otherwise
Tensor arange(std::int64_t start, std::int64_t end, std::int64_t step = 1, const TensorOptions& options = {}, Here here = Here::current());
Tensor linspace(double start, double end, std::int64_t steps, const TensorOptions& options = {}, Here here = Here::current());
Tensor eye(std::int64_t n, const TensorOptions& options = {}, Here here = Here::current());

/// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3; SC 2011): the seed, and how many tensors were
/// drawn. The same seed gives the same numbers on every target.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0);
  void manual_seed(std::uint64_t seed);
  /// The key of the next draw, u64[2].
  Tensor next(Here here = Here::current());
  const Tensor& state() const { return state_; }

 private:
  Tensor state_;
};
Generator& default_generator();
inline void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }
Tensor rand(const Sizes& sizes, const TensorOptions& options = {}, Generator& generator = default_generator(), Here here = Here::current());    ///< from [0, 1)
Tensor randn(const Sizes& sizes, const TensorOptions& options = {}, Generator& generator = default_generator(), Here here = Here::current());
Tensor randint(std::int64_t low, std::int64_t high, const Sizes& sizes, const TensorOptions& options = {}, Generator& generator = default_generator(), Here here = Here::current());   ///< from [low, high)
Tensor randperm(std::int64_t n, Generator& generator = default_generator(), Here here = Here::current());
Tensor bernoulli(const Tensor& p, Generator& generator = default_generator(), Here here = Here::current());   ///< bool
Tensor multinomial(const Tensor& weights, std::int64_t samples, Generator& generator = default_generator(), Here here = Here::current());

// --- Element by element ---------------------------------------------------------------------------------------------------

Tensor add(const Operand& x, const Operand& y, double alpha = 1);
Tensor sub(const Operand& x, const Operand& y, double alpha = 1);
Tensor mul(const Operand& x, const Operand& y);
Tensor div(const Operand& x, const Operand& y);              ///< of integers: f32
Tensor floor_divide(const Operand& x, const Operand& y);     ///< towards minus infinity
Tensor remainder(const Operand& x, const Operand& y);        ///< the sign of y, as Python's %
Tensor fmod(const Operand& x, const Operand& y);             ///< the sign of x, as C's %
Tensor pow(const Operand& x, const Operand& y);
Tensor atan2(const Operand& y, const Operand& x);
Tensor hypot(const Operand& x, const Operand& y);
Tensor maximum(const Operand& x, const Operand& y);          ///< NaN if either is
Tensor minimum(const Operand& x, const Operand& y);
Tensor eq(const Operand& x, const Operand& y);
Tensor ne(const Operand& x, const Operand& y);
Tensor lt(const Operand& x, const Operand& y);
Tensor le(const Operand& x, const Operand& y);
Tensor gt(const Operand& x, const Operand& y);
Tensor ge(const Operand& x, const Operand& y);
Tensor logical_and(const Operand& x, const Operand& y);
Tensor logical_or(const Operand& x, const Operand& y);
Tensor logical_xor(const Operand& x, const Operand& y);
Tensor bitwise_and(const Operand& x, const Operand& y);
Tensor bitwise_or(const Operand& x, const Operand& y);
Tensor bitwise_xor(const Operand& x, const Operand& y);
Tensor bitwise_left_shift(const Operand& x, const Operand& y);
Tensor bitwise_right_shift(const Operand& x, const Operand& y);
Tensor where(const Tensor& condition, const Operand& x, const Operand& y);   ///< the side not taken has no effect, on gradients neither
Tensor lerp(const Operand& x, const Operand& y, const Operand& weight);
Tensor addcmul(const Operand& x, const Operand& a, const Operand& b, double value = 1);
Tensor addcdiv(const Operand& x, const Operand& a, const Operand& b, double value = 1);
Tensor clamp(const Operand& x, std::optional<double> low, std::optional<double> high = {});
Tensor masked_fill(const Operand& x, const Tensor& mask, const Operand& value);

Tensor abs(const Operand& x);
Tensor neg(const Operand& x);
Tensor sign(const Operand& x);
Tensor square(const Operand& x);
Tensor reciprocal(const Operand& x);
Tensor exp(const Operand& x);
Tensor exp2(const Operand& x);
Tensor expm1(const Operand& x);
Tensor log(const Operand& x);
Tensor log2(const Operand& x);
Tensor log10(const Operand& x);
Tensor log1p(const Operand& x);
Tensor sqrt(const Operand& x);
Tensor rsqrt(const Operand& x);
Tensor cbrt(const Operand& x);
Tensor sin(const Operand& x);
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor asin(const Operand& x);
Tensor acos(const Operand& x);
Tensor atan(const Operand& x);
Tensor sinh(const Operand& x);
Tensor cosh(const Operand& x);
Tensor tanh(const Operand& x);
Tensor asinh(const Operand& x);
Tensor acosh(const Operand& x);
Tensor atanh(const Operand& x);
Tensor erf(const Operand& x);
Tensor erfc(const Operand& x);
Tensor floor(const Operand& x);
Tensor ceil(const Operand& x);
Tensor trunc(const Operand& x);
Tensor round(const Operand& x);   ///< ties to even
Tensor isnan(const Operand& x);
Tensor isinf(const Operand& x);
Tensor isfinite(const Operand& x);
Tensor logical_not(const Operand& x);
Tensor bitwise_not(const Operand& x);
Tensor nan_to_num(const Operand& x, double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {});
Tensor real(const Operand& x);
Tensor imag(const Operand& x);
Tensor conj(const Operand& x);
Tensor complex(const Operand& re, const Operand& im);

Tensor sigmoid(const Operand& x);
Tensor relu(const Operand& x);
Tensor gelu(const Operand& x, bool approximate = false);
Tensor silu(const Operand& x);
Tensor elu(const Operand& x, double alpha = 1);
Tensor selu(const Operand& x);
Tensor leaky_relu(const Operand& x, double negative_slope = 0.01);
Tensor softplus(const Operand& x, double beta = 1, double threshold = 20);
Tensor mish(const Operand& x);
Tensor hardtanh(const Operand& x, double low = -1, double high = 1);
Tensor hardswish(const Operand& x);
Tensor hardsigmoid(const Operand& x);
Tensor logsigmoid(const Operand& x);
Tensor softsign(const Operand& x);

Tensor operator+(const Operand& x, const Operand& y);
Tensor operator-(const Operand& x, const Operand& y);
Tensor operator*(const Operand& x, const Operand& y);
Tensor operator/(const Operand& x, const Operand& y);
Tensor operator%(const Operand& x, const Operand& y);
Tensor operator==(const Operand& x, const Operand& y);
Tensor operator!=(const Operand& x, const Operand& y);
Tensor operator<(const Operand& x, const Operand& y);
Tensor operator<=(const Operand& x, const Operand& y);
Tensor operator>(const Operand& x, const Operand& y);
Tensor operator>=(const Operand& x, const Operand& y);
Tensor operator&(const Operand& x, const Operand& y);
Tensor operator|(const Operand& x, const Operand& y);
Tensor operator^(const Operand& x, const Operand& y);

// --- Over axes; an empty list is all of them ----------------------------------------------------------------------------------

Tensor sum(const Operand& x, const Sizes& dims = {}, bool keepdim = false);    ///< of integers and bools: i64
Tensor mean(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor prod(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor amax(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor amin(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor var(const Operand& x, const Sizes& dims = {}, double correction = 1, bool keepdim = false);
Tensor std(const Operand& x, const Sizes& dims = {}, double correction = 1, bool keepdim = false);
Tensor norm(const Operand& x, double p = 2, const Sizes& dims = {}, bool keepdim = false);
Tensor logsumexp(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor any(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor all(const Operand& x, const Sizes& dims = {}, bool keepdim = false);
Tensor count_nonzero(const Operand& x, const Sizes& dims = {});
Tensor argmax(const Operand& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
Tensor argmin(const Operand& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
std::tuple<Tensor, Tensor> max(const Operand& x, std::int64_t dim, bool keepdim = false);   ///< values and places (i64)
std::tuple<Tensor, Tensor> min(const Operand& x, std::int64_t dim, bool keepdim = false);
Tensor cumsum(const Operand& x, std::int64_t dim);
Tensor cumprod(const Operand& x, std::int64_t dim);
Tensor softmax(const Operand& x, std::int64_t dim);
Tensor log_softmax(const Operand& x, std::int64_t dim);
std::tuple<Tensor, Tensor> sort(const Operand& x, std::int64_t dim = -1, bool descending = false);   ///< stable; NaN last, first when descending
Tensor argsort(const Operand& x, std::int64_t dim = -1, bool descending = false);
std::tuple<Tensor, Tensor> topk(const Operand& x, std::int64_t k, std::int64_t dim = -1, bool largest = true);

// --- Shapes and places ----------------------------------------------------------------------------------------------------

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim = 0, Here here = Here::current());
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim = 0, Here here = Here::current());
std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim = 0, Here here = Here::current());   ///< views
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim = 0, Here here = Here::current());  ///< views
Tensor flip(const Operand& x, const Sizes& dims);
Tensor roll(const Operand& x, const Sizes& shifts, const Sizes& dims);
Tensor tile(const Operand& x, const Sizes& repeats);
Tensor tril(const Operand& x, std::int64_t diagonal = 0);
Tensor triu(const Operand& x, std::int64_t diagonal = 0);
/// low and high elements of value for the last axis, then the one before it, …, as LibTorch's pad.
Tensor pad(const Operand& x, const Sizes& pads, double value = 0);
Tensor gather(const Operand& x, std::int64_t dim, const Tensor& index);
Tensor index_select(const Operand& x, std::int64_t dim, const Tensor& index);
Tensor scatter(const Operand& x, std::int64_t dim, const Tensor& index, const Operand& source);      ///< of one place, the last
Tensor scatter_add(const Operand& x, std::int64_t dim, const Tensor& index, const Operand& source);  ///< in order
Tensor one_hot(const Operand& x, std::int64_t classes);
Tensor nonzero(const Tensor& x, Here here = Here::current());                           ///< i64[count, rank]
Tensor masked_select(const Tensor& x, const Tensor& mask, Here here = Here::current());

// --- Products and linear algebra ------------------------------------------------------------------------------------------

Tensor matmul(const Operand& x, const Operand& y);
Tensor mm(const Operand& x, const Operand& y);
Tensor bmm(const Operand& x, const Operand& y);
Tensor dot(const Operand& x, const Operand& y);
Tensor outer(const Operand& x, const Operand& y);
Tensor addmm(const Operand& c, const Operand& x, const Operand& y, double beta = 1, double alpha = 1);
/// Sums of products by named axes: einsum("bij,bjk->bik", {x, y}). Letters, and each operand's axes named once.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands, Here here = Here::current());
Tensor cholesky(const Operand& a);
Tensor inverse(const Operand& a);
Tensor det(const Operand& a);
std::tuple<Tensor, Tensor> slogdet(const Operand& a);
Tensor solve(const Operand& a, const Operand& b);
std::tuple<Tensor, Tensor> qr(const Operand& a);
std::tuple<Tensor, Tensor> eigh(const Operand& a);
std::tuple<Tensor, Tensor, Tensor> svd(const Operand& a);   ///< u, s, vh
Tensor pinv(const Operand& a);
Tensor matrix_exp(const Operand& a);

// --- Layers and losses ----------------------------------------------------------------------------------------------------

enum class Reduction : std::uint8_t { none, mean, sum };

Tensor linear(const Operand& x, const Tensor& weight, const Tensor& bias = {});   ///< x weight^T + bias
Tensor embedding(const Tensor& indices, const Tensor& table, Here here = Here::current());

struct ConvOptions {
  Sizes stride = {}, padding = {}, dilation = {};   ///< an entry an axis, or one for all; empty: 1, 0, 1
  std::int64_t groups = 1;
};
Tensor conv1d(const Operand& x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
Tensor conv2d(const Operand& x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
Tensor conv3d(const Operand& x, const Tensor& weight, const Tensor& bias = {}, const ConvOptions& options = {});
struct PoolOptions {
  Sizes stride = {}, padding = {};   ///< stride empty: the kernel's sizes
  bool ceil_mode = false;
};
Tensor max_pool1d(const Operand& x, const Sizes& kernel, const PoolOptions& options = {});
Tensor max_pool2d(const Operand& x, const Sizes& kernel, const PoolOptions& options = {});
Tensor avg_pool1d(const Operand& x, const Sizes& kernel, const PoolOptions& options = {});
Tensor avg_pool2d(const Operand& x, const Sizes& kernel, const PoolOptions& options = {});
Tensor adaptive_avg_pool2d(const Operand& x, const Sizes& size);

Tensor layer_norm(const Operand& x, const Sizes& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
Tensor rms_norm(const Operand& x, const Sizes& normalized_shape, const Tensor& weight = {}, double eps = 1e-5);
Tensor group_norm(const Operand& x, std::int64_t groups, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
Tensor dropout(const Operand& x, double p = 0.5, bool training = true, Generator& generator = default_generator());
struct AttentionOptions {
  bool is_causal = false;
  std::optional<double> scale = {};   ///< 1 / sqrt(width)
};
Tensor scaled_dot_product_attention(const Operand& query, const Tensor& key, const Tensor& value, const Tensor& mask = {}, const AttentionOptions& options = {});

struct CrossEntropyOptions {
  Tensor weight = {};
  Reduction reduction = Reduction::mean;
  std::int64_t ignore_index = -100;
  double label_smoothing = 0;
};
/// Of x[N, C, …] against classes [N, …], or against probabilities of x's sizes.
Tensor cross_entropy(const Operand& x, const Tensor& target, const CrossEntropyOptions& options = {});
Tensor nll_loss(const Operand& x, const Tensor& target, Reduction reduction = Reduction::mean);
Tensor mse_loss(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean);
Tensor l1_loss(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean);
Tensor huber_loss(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean, double delta = 1);
Tensor smooth_l1_loss(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean, double beta = 1);
Tensor binary_cross_entropy(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean);
Tensor binary_cross_entropy_with_logits(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean);
Tensor kl_div(const Operand& x, const Operand& target, Reduction reduction = Reduction::mean);

}  // namespace plumb

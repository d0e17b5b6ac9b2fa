// Functions over axes.
#include "api/eager/promote.h"
#include "api/include/plumb/functions.h"

namespace plumb {
namespace {

using eager::attrs;
using eager::Domain;
using eager::Values;
using ir::Builder;

enum class Sum { as_it_is, integers_wide, floats };

/// A reduction of the tensor IR, its result's axes kept as sizes of 1 where asked.
Tensor reduced(const char* name, const char* op, const Operand& x, const Sizes& dims, bool keepdim, Sum dtypes, ir::AttrMap a = {}) {
  const auto t = eager::tensors_of({&x}, name)[0];
  const auto axes = eager::axes_of(t, dims, x.here(), name);
  a.set("axes", axes);
  auto dtype = t.dtype();
  if (dtypes == Sum::integers_wide && (is_bool(dtype) || is_integer(dtype))) dtype = dtype == DType::u64 ? dtype : DType::i64;
  if (dtypes == Sum::floats && !is_float(dtype) && !is_complex(dtype)) dtype = DType::f32;
  return eager::call(name, op + eager::key_of(a) + (keepdim ? "k" : "") + static_cast<char>(dtype), {t}, x.here(), [&](Builder& b, const Values& in) {
    const auto r = b.op(op, {b.convert(in[0], dtype)}, a);
    if (!keepdim) return Values{r};
    ir::Shape shape = b.type(in[0]).shape;
    for (auto d : axes) shape[static_cast<std::size_t>(d)] = ir::Dim(1);
    return Values{b.reshape(r, shape)};
  }).at(0);
}

Tensor place_of(const char* name, const char* op, const Operand& x, std::optional<std::int64_t> dim, bool keepdim) {
  auto t = eager::tensors_of({&x}, name)[0];
  if (!dim) t = t.reshape({-1}, x.here());
  const auto axis = eager::wrap_axis(dim.value_or(0), t.dim(), x.here(), name);
  if (t.dim() == 0) t = t.reshape({1}, x.here());
  const auto r = eager::apply1(op, {t}, attrs({{"axis", axis}}), x.here());
  return keepdim && dim ? r.unsqueeze(axis, x.here()) : r;
}

std::tuple<Tensor, Tensor> extremum(const char* name, const char* op, const Operand& x, std::int64_t dim, bool keepdim) {
  auto t = eager::tensors_of({&x}, name)[0];
  const auto axis = eager::wrap_axis(dim, t.dim(), x.here(), name);
  const bool number = t.dim() == 0;
  if (number) t = t.reshape({1}, x.here());
  auto r = eager::apply(op, {t}, attrs({{"axis", axis}}), x.here());
  for (auto& v : r)
    if (keepdim && !number) v = v.unsqueeze(axis, x.here());
  return {r[0], r[1]};
}

Tensor along(const char* name, const char* op, const Operand& x, std::int64_t dim, Domain domain) {
  const auto t = eager::tensors_of({&x}, name)[0];
  if (t.dim() == 0) return along(name, op, Operand(t.reshape({1}, x.here()), x.here()), 0, domain).reshape({}, x.here());
  return eager::meet(name, op, {&x}, domain, attrs({{"axis", eager::wrap_axis(dim, t.dim(), x.here(), name)}}));
}

}  // namespace

Tensor sum(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("sum", "reduce_sum", x, dims, keepdim, Sum::integers_wide); }
Tensor prod(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("prod", "reduce_prod", x, dims, keepdim, Sum::integers_wide); }
Tensor mean(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("mean", "reduce_mean", x, dims, keepdim, Sum::floats); }
Tensor amax(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("amax", "reduce_max", x, dims, keepdim, Sum::as_it_is); }
Tensor amin(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("amin", "reduce_min", x, dims, keepdim, Sum::as_it_is); }
Tensor var(const Operand& x, const Sizes& dims, double correction, bool keepdim) { return reduced("var", "var", x, dims, keepdim, Sum::floats, attrs({{"correction", correction}})); }
Tensor std(const Operand& x, const Sizes& dims, double correction, bool keepdim) { return sqrt(Operand(var(x, dims, correction, keepdim), x.here())); }
Tensor norm(const Operand& x, double p, const Sizes& dims, bool keepdim) { return reduced("norm", "norm", x, dims, keepdim, Sum::floats, attrs({{"p", p}})); }
Tensor logsumexp(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("logsumexp", "logsumexp", x, dims, keepdim, Sum::floats); }
Tensor any(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("any", "any", x, dims, keepdim, Sum::as_it_is); }
Tensor all(const Operand& x, const Sizes& dims, bool keepdim) { return reduced("all", "all", x, dims, keepdim, Sum::as_it_is); }
Tensor count_nonzero(const Operand& x, const Sizes& dims) { return reduced("count_nonzero", "count_nonzero", x, dims, false, Sum::as_it_is); }

Tensor argmax(const Operand& x, std::optional<std::int64_t> dim, bool keepdim) { return place_of("argmax", "argmax", x, dim, keepdim); }
Tensor argmin(const Operand& x, std::optional<std::int64_t> dim, bool keepdim) { return place_of("argmin", "argmin", x, dim, keepdim); }
std::tuple<Tensor, Tensor> max(const Operand& x, std::int64_t dim, bool keepdim) { return extremum("max", "max_with_index", x, dim, keepdim); }
std::tuple<Tensor, Tensor> min(const Operand& x, std::int64_t dim, bool keepdim) { return extremum("min", "min_with_index", x, dim, keepdim); }
Tensor cumsum(const Operand& x, std::int64_t dim) { return along("cumsum", "cumsum", x, dim, Domain::no_bool); }
Tensor cumprod(const Operand& x, std::int64_t dim) { return along("cumprod", "cumprod", x, dim, Domain::no_bool); }
Tensor softmax(const Operand& x, std::int64_t dim) { return along("softmax", "softmax", x, dim, Domain::floating); }
Tensor log_softmax(const Operand& x, std::int64_t dim) { return along("log_softmax", "log_softmax", x, dim, Domain::floating); }

Tensor argsort(const Operand& x, std::int64_t dim, bool descending) {
  const auto t = eager::tensors_of({&x}, "argsort")[0];
  return eager::apply1("argsort", {t}, attrs({{"axis", eager::wrap_axis(dim, t.dim(), x.here(), "argsort")}, {"descending", descending}}), x.here());
}
std::tuple<Tensor, Tensor> sort(const Operand& x, std::int64_t dim, bool descending) {
  const auto t = eager::tensors_of({&x}, "sort")[0];
  const auto a = attrs({{"axis", eager::wrap_axis(dim, t.dim(), x.here(), "sort")}, {"descending", descending}});
  const auto r = eager::call("sort", eager::key_of(a), {t}, x.here(), [&](Builder& b, const Values& in) { return Values{b.op("sort", {in[0]}, a), b.op("argsort", {in[0]}, a)}; });
  return {r[0], r[1]};
}
std::tuple<Tensor, Tensor> topk(const Operand& x, std::int64_t k, std::int64_t dim, bool largest) {
  const auto t = eager::tensors_of({&x}, "topk")[0];
  const auto r = eager::apply("top_k", {t}, attrs({{"k", k}, {"axis", eager::wrap_axis(dim, t.dim(), x.here(), "topk")}, {"largest", largest}}), x.here());
  return {r[0], r[1]};
}

}  // namespace plumb

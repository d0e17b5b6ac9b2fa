// Functions that move elements, or look them up.
#include <algorithm>

#include "api/eager/promote.h"
#include "api/eager/trace.h"
#include "api/include/plumb/functions.h"

namespace plumb {
namespace {

using eager::attrs;
using eager::Values;
using ir::Builder;

Tensor joined(const char* name, const std::vector<Tensor>& tensors, std::int64_t dim, bool fresh_axis, Here here) {
  if (tensors.empty()) eager::fail(here, std::string(name) + ": there is nothing to join; give at least one tensor");
  for (const auto& t : tensors) eager::get(t, here, name);
  const auto axis = eager::wrap_axis(dim, tensors[0].dim() + (fresh_axis ? 1 : 0), here, name);
  if (!fresh_axis && tensors[0].dim() == 0) eager::fail(here, "cat: a tensor of rank 0 has no axes; use stack");
  const auto dtype = eager::meeting_dtype(tensors);
  return eager::call(name, std::to_string(axis) + static_cast<char>(dtype), tensors, here, [&](Builder& b, const Values& in) {
    Values parts;
    for (auto v : in) {
      auto part = b.convert(v, dtype);
      if (fresh_axis) {
        ir::Shape shape;
        const ir::Shape own = b.type(part).shape;
        for (std::size_t d = 0; d <= own.size(); ++d) {
          if (d == static_cast<std::size_t>(axis)) shape.push_back(ir::Dim(1));
          if (d < own.size()) shape.push_back(own[d]);
        }
        part = b.reshape(part, shape);
      }
      parts.push_back(part);
    }
    return Values{b.op("concat", parts, attrs({{"axis", axis}}))};
  }).at(0);
}

ir::ValueId positions(Builder& b, ir::ValueId index, std::int64_t n) {
  const auto p = b.convert(index, DType::i64);
  return b.op("select", {b.op("lt", {p, b.splat_like(p, 0)}), b.op("add", {p, b.splat_like(p, static_cast<double>(n))}), p});
}

void need_places(const Tensor& index, Here here, const char* name) {
  if (!is_integer(eager::get(index, here, name).dtype)) eager::fail(here, std::string(name) + ": places are integers, not " + eager::describe(index));
}

/// Gathers or scatters along an axis, places that count from the end put right.
Tensor placed(const char* name, const char* op, ir::AttrMap a, const Operand& x, std::int64_t dim, const Tensor& index, const Operand* source) {
  const auto here = x.here();
  const auto t = eager::tensors_of({&x}, name)[0];
  need_places(index, here, name);
  const auto axis = eager::wrap_axis(dim, t.dim(), here, name);
  const auto n = t.size(axis, here);
  a.set("axis", axis);
  std::vector<Tensor> in{t, index};
  if (source) in.push_back(eager::tensors_of({source}, name)[0]);
  return eager::call(name, op + eager::key_of(a), in, here, [&](Builder& b, const Values& v) {
    Values operands{v[0], positions(b, v[1], n)};
    if (source) operands.push_back(b.broadcast_to(b.convert(v[2], b.type(v[0]).dtype), b.type(v[1]).shape));
    return Values{b.op(op, operands, a)};
  }).at(0);
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim, Here here) { return joined("cat", tensors, dim, false, here); }
Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim, Here here) { return joined("stack", tensors, dim, true, here); }

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim, Here here) {
  const auto n = x.size(dim, here);
  if (size < 1) eager::fail(here, "split: parts of " + std::to_string(size) + " are asked for; the size is at least 1");
  std::vector<Tensor> parts;
  for (std::int64_t at = 0; at < n || parts.empty(); at += size) parts.push_back(x.slice(dim, at, std::min(at + size, n), 1, here));
  return parts;
}
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim, Here here) {
  if (chunks < 1) eager::fail(here, "chunk: " + std::to_string(chunks) + " chunks are asked for; the number is at least 1");
  return split(x, std::max<std::int64_t>(1, (x.size(dim, here) + chunks - 1) / chunks), dim, here);
}

Tensor flip(const Operand& x, const Sizes& dims) {
  const auto t = eager::tensors_of({&x}, "flip")[0];
  return dims.empty() ? t.clone(x.here()) : eager::apply1("reverse", {t}, attrs({{"axes", eager::axes_of(t, dims, x.here(), "flip")}}), x.here());
}
Tensor roll(const Operand& x, const Sizes& shifts, const Sizes& dims) {
  const auto t = eager::tensors_of({&x}, "roll")[0];
  ir::Ints axes;
  for (auto d : dims) axes.push_back(eager::wrap_axis(d, t.dim(), x.here(), "roll"));
  return eager::apply1("roll", {t}, attrs({{"shifts", ir::Ints(shifts)}, {"axes", axes}}), x.here());
}
Tensor tile(const Operand& x, const Sizes& repeats) { return eager::apply1("repeat", eager::tensors_of({&x}, "tile"), attrs({{"repeats", ir::Ints(repeats)}}), x.here()); }
Tensor tril(const Operand& x, std::int64_t diagonal) { return eager::apply1("tril", eager::tensors_of({&x}, "tril"), attrs({{"diagonal", diagonal}}), x.here()); }
Tensor triu(const Operand& x, std::int64_t diagonal) { return eager::apply1("triu", eager::tensors_of({&x}, "triu"), attrs({{"diagonal", diagonal}}), x.here()); }

Tensor pad(const Operand& x, const Sizes& pads, double value) {
  const auto t = eager::tensors_of({&x}, "pad")[0];
  const auto rank = static_cast<std::size_t>(t.dim());
  if (pads.size() % 2 != 0 || pads.size() / 2 > rank) eager::fail(x.here(), "pad: " + std::to_string(pads.size()) + " numbers are given; two an axis, the last axis first, are needed for " + eager::describe(t));
  ir::Ints low(rank, 0), high(rank, 0);
  for (std::size_t k = 0; k + 1 < pads.size(); k += 2) low[rank - 1 - k / 2] = pads[k], high[rank - 1 - k / 2] = pads[k + 1];
  const auto a = attrs({{"low", low}, {"high", high}});
  return eager::call("pad", eager::key_of(a), {t, eager::tensor_of(Operand(value, x.here()))}, x.here(), [&](Builder& b, const Values& in) { return Values{b.op("pad", {in[0], b.convert(in[1], b.type(in[0]).dtype)}, a)}; }).at(0);
}

Tensor gather(const Operand& x, std::int64_t dim, const Tensor& index) { return placed("gather", "gather_elements", {}, x, dim, index, nullptr); }
Tensor index_select(const Operand& x, std::int64_t dim, const Tensor& index) {
  if (eager::get(index, x.here(), "index_select").sizes.size() > 1) eager::fail(x.here(), "index_select: places are a vector, not " + eager::describe(index));
  return placed("index_select", "gather", {}, x, dim, index, nullptr);
}
Tensor scatter(const Operand& x, std::int64_t dim, const Tensor& index, const Operand& source) { return placed("scatter", "scatter_elements", {}, x, dim, index, &source); }
Tensor scatter_add(const Operand& x, std::int64_t dim, const Tensor& index, const Operand& source) { return placed("scatter_add", "scatter_elements", attrs({{"mode", std::string("add")}}), x, dim, index, &source); }
Tensor one_hot(const Operand& x, std::int64_t classes) { return eager::apply1("one_hot", eager::tensors_of({&x}, "one_hot"), attrs({{"classes", classes}}), x.here()); }

Tensor nonzero(const Tensor& x, Here here) {
  eager::get(x, here, "nonzero");
  const auto r = eager::apply("nonzero", {x}, {}, here);
  return r[0].slice(1, 0, r[1].item<std::int64_t>(here), 1, here).transpose(0, 1, here);
}
Tensor masked_select(const Tensor& x, const Tensor& mask, Here here) {
  const auto r = eager::call("masked_select", "", {x, mask}, here, [](Builder& b, const Values& in) {
    const auto shape = ir::broadcast_shapes(b.type(in[0]).shape, b.type(in[1]).shape);
    if (auto* why = std::get_if<std::string>(&shape)) fail_input(*why + "; the mask broadcasts to the tensor");
    return b.add("masked_select", Values{b.broadcast_to(in[0], std::get<ir::Shape>(shape)), b.broadcast_to(in[1], std::get<ir::Shape>(shape))});
  });
  return r[0].slice(0, 0, r[1].item<std::int64_t>(here), 1, here);
}

}  // namespace plumb

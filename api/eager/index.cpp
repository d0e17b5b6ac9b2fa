// index() and index_put_(): places, slices, new axes, and tensors of places.
#include <algorithm>

#include "api/eager/dispatch.h"
#include "api/eager/trace.h"
#include "api/include/plumb/functions.h"

namespace plumb {
namespace {

using eager::Values;
using ir::Builder;

/// What is left when places, slices and new axes are done: a view, and the tensors of places with the axes of the view.
struct Basic {
  Tensor view;
  std::vector<std::int64_t> axes;
  std::vector<Tensor> places;
};

std::int64_t axes_taken(const TensorIndex& e) {
  if (const auto* t = std::get_if<Tensor>(&e.value())) return t->defined() && t->dtype() == kBool ? std::max<std::int64_t>(t->dim(), 1) : 1;
  return std::holds_alternative<std::int64_t>(e.value()) || std::holds_alternative<Slice>(e.value()) ? 1 : 0;
}

Basic basic_part(const Tensor& x, const std::vector<TensorIndex>& entries, Here here) {
  std::int64_t taken = 0, dots = 0;
  for (const auto& e : entries) taken += axes_taken(e), dots += std::holds_alternative<EllipsisType>(e.value());
  if (dots > 1) eager::fail(here, "index: Ellipsis may stand once");
  if (taken > x.dim()) eager::fail(here, "index: " + std::to_string(taken) + " axes are indexed, and " + eager::describe(x) + " has " + std::to_string(x.dim()));
  Basic r{x, {}, {}};
  std::int64_t axis = 0;
  for (const auto& e : entries) {
    const auto& v = e.value();
    if (std::holds_alternative<std::monostate>(v)) r.view = r.view.unsqueeze(axis++, here);
    else if (const auto* p = std::get_if<std::int64_t>(&v)) r.view = r.view.select(axis, *p, here);
    else if (const auto* s = std::get_if<Slice>(&v)) r.view = r.view.slice(axis++, s->start, s->stop, s->step, here);
    else if (std::holds_alternative<EllipsisType>(v)) axis += x.dim() - taken;
    else {
      const auto& t = std::get<Tensor>(v);
      eager::get(t, here, "index");
      if (t.dtype() == kBool) {
        for (std::int64_t d = 0; d < t.dim(); ++d)
          if (t.size(d) != r.view.size(axis + d, here)) eager::fail(here, "index: the mask " + eager::describe(t) + " does not have the sizes of the axes that it stands for, of " + eager::describe(r.view));
        if (t.dim() == 0) eager::fail(here, "index: a mask of rank 0 is no index; use plumb::where");
        auto places = nonzero(t, here);
        for (std::int64_t d = 0; d < t.dim(); ++d) r.axes.push_back(axis++), r.places.push_back(places.select(1, d, here));
      } else if (is_integer(t.dtype())) {
        r.axes.push_back(axis++), r.places.push_back(t);
      } else {
        eager::fail(here, "index: places are integers or bools, not " + eager::describe(t));
      }
    }
  }
  return r;
}

/// Places that count from the end, as those from the start; an error for those outside.
ir::ValueId normalised(Builder& b, ir::ValueId places, std::int64_t n) {
  const auto p = b.convert(places, DType::i64);
  const auto negative = b.op("lt", {p, b.splat_like(p, 0)});
  return b.op("select", {negative, b.op("add", {p, b.splat_like(p, static_cast<double>(n))}), p});
}

std::vector<Tensor> with_places(const Basic& basic, std::vector<Tensor> first) {
  first.insert(first.end(), basic.places.begin(), basic.places.end());
  return first;
}

void check_places(const Basic& basic, Here here) {
  for (std::size_t k = 0; k < basic.places.size(); ++k) {
    const auto& p = basic.places[k];
    if (eager::active_trace() || p.numel() == 0) continue;   // a captured program's gather has its own check
    const auto n = basic.view.size(basic.axes[k], here);
    for (auto v : p.to_vector<std::int64_t>(here))
      if (v < -n || v >= n) eager::fail(here, "index " + std::to_string(v) + " is outside of axis " + std::to_string(basic.axes[k]) + " of " + eager::describe(basic.view) + "; places go from " + std::to_string(-n) + " to " + std::to_string(n - 1));
  }
}

}  // namespace

Tensor Tensor::index(const std::vector<TensorIndex>& entries, Here here) const {
  eager::get(*this, here, "index");
  const auto basic = basic_part(*this, entries, here);
  if (basic.places.empty()) return basic.view;
  check_places(basic, here);
  const auto attrs = eager::attrs({{"axes", ir::Ints(basic.axes)}});
  return eager::call("index", eager::key_of(attrs), with_places(basic, {basic.view}), here, [&](Builder& b, const Values& in) {
    Values operands{in[0]};
    for (std::size_t k = 0; k < basic.axes.size(); ++k) operands.push_back(normalised(b, in[k + 1], basic.view.size(basic.axes[k])));
    return Values{b.op("advanced_index", operands, attrs)};
  }).at(0);
}

Tensor& Tensor::index_put_(const std::vector<TensorIndex>& entries, const Operand& value) {
  const auto here = value.here();
  eager::get(*this, here, "index_put_");
  auto basic = basic_part(*this, entries, here);
  const auto updates = eager::tensor_of(value);
  if (basic.places.empty()) {
    eager::write(basic.view, updates, "index_put_", here);
    return *this;
  }
  check_places(basic, here);
  const auto attrs = eager::attrs({{"axes", ir::Ints(basic.axes)}});
  const auto put = eager::call("index_put_", eager::key_of(attrs), with_places(basic, {basic.view, updates}), here, [&](Builder& b, const Values& in) {
    Values places;
    for (std::size_t k = 0; k < basic.axes.size(); ++k) places.push_back(normalised(b, in[k + 2], basic.view.size(basic.axes[k])));
    Values read{in[0]};
    read.insert(read.end(), places.begin(), places.end());
    const ir::Shape shape = b.type(b.op("advanced_index", read, attrs)).shape;
    Values operands{in[0], b.broadcast_to(b.convert(in[1], b.type(in[0]).dtype), shape)};
    operands.insert(operands.end(), places.begin(), places.end());
    return Values{b.op("index_put", operands, attrs)};
  }).at(0);
  // A view of everything that was selected; of the tensor itself where nothing else was.
  eager::write(basic.view, put, "index_put_", here);
  return *this;
}

}  // namespace plumb

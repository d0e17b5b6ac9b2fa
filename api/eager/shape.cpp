// Views by sizes and strides, and the copies that stand in where strides do not allow one.
#include <algorithm>

#include "api/eager/dispatch.h"

namespace plumb {
namespace {

using eager::Geometry;
using eager::get;
using eager::Values;
using ir::Builder;

std::string text(const Sizes& s) { return ir::str(ir::to_shape(s)); }
std::string key(const Sizes& s) { return eager::key_of(eager::attrs({{"sizes", ir::Ints(s)}})); }
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Fills the one -1 in.
Sizes with_inferred(Sizes sizes, const Tensor& x, Here here, const char* op) {
  std::int64_t known = 1, open = -1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < -1 || (sizes[d] == -1 && open >= 0)) eager::fail(here, std::string(op) + ": sizes are at least 0, and one of them may be -1, not " + text(sizes));
    if (sizes[d] == -1) open = static_cast<std::int64_t>(d);
    else known *= sizes[d];
  }
  if (open >= 0 && known > 0 && x.numel() % known == 0) {
    sizes[at(open)] = x.numel() / known;
    known = x.numel();
  }
  if (known != x.numel() || (open >= 0 && sizes[at(open)] == -1))
    eager::fail(here, std::string(op) + ": " + eager::describe(x) + " has " + std::to_string(x.numel()) + " elements, which do not fit into " + text(sizes) + "; the sizes' product must be that number");
  return sizes;
}

/// Strides of the same elements under other sizes, where there are any: axes that lie in order together are cut anew.
std::optional<Sizes> regrouped(const Sizes& sizes, const Sizes& strides, const Sizes& to) {
  if (eager::count(to) == 0) return eager::row_major(to);
  std::vector<std::pair<std::int64_t, std::int64_t>> chunks;   // size and innermost stride of what lies in order, innermost first
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1) continue;
    if (!chunks.empty() && strides[d] == chunks.back().first * chunks.back().second) chunks.back().first *= sizes[d];
    else chunks.emplace_back(sizes[d], strides[d]);
  }
  Sizes r(to.size(), 1);
  std::size_t chunk = 0;
  std::int64_t done = 1;
  for (std::size_t d = to.size(); d-- > 0;) {
    if (to[d] == 1) {
      r[d] = d + 1 < to.size() ? r[d + 1] * to[d + 1] : 1;
      continue;
    }
    if (chunk == chunks.size()) return std::nullopt;
    r[d] = chunks[chunk].second * done;
    done *= to[d];
    if (chunks[chunk].first % done != 0) return std::nullopt;
    if (done == chunks[chunk].first) ++chunk, done = 1;
  }
  return r;
}

Tensor reshaped(const Tensor& x, const Sizes& sizes, const Sizes& strides, Here here) {
  return eager::view("reshape", key(sizes), x, {sizes, strides, x.impl()->offset}, [&](Builder& b, const Values& in) { return Values{b.reshape(in[0], ir::to_shape(sizes))}; }, here);
}

}  // namespace

Tensor Tensor::view(Sizes sizes, Here here) const {
  const auto& i = get(*this, here, "view");
  sizes = with_inferred(std::move(sizes), *this, here, "view");
  const auto strides = regrouped(i.sizes, i.strides, sizes);
  if (!strides) eager::fail(here, "view: the elements of " + eager::describe(*this) + " with strides " + text(i.strides) + " do not lie as " + text(sizes) + " needs them; use reshape, which copies");
  return reshaped(*this, sizes, *strides, here);
}

Tensor Tensor::reshape(Sizes sizes, Here here) const {
  const auto& i = get(*this, here, "reshape");
  sizes = with_inferred(std::move(sizes), *this, here, "reshape");
  if (const auto strides = regrouped(i.sizes, i.strides, sizes)) return reshaped(*this, sizes, *strides, here);
  return reshaped(contiguous(here), sizes, eager::row_major(sizes), here);
}

Tensor Tensor::flatten(std::int64_t start, std::int64_t end, Here here) const {
  const auto& i = get(*this, here, "flatten");
  if (i.sizes.empty()) return reshape({1}, here);
  start = eager::wrap_axis(start, dim(), here, "flatten"), end = eager::wrap_axis(end, dim(), here, "flatten");
  if (start > end) eager::fail(here, "flatten: the first axis (" + std::to_string(start) + ") comes after the last (" + std::to_string(end) + ")");
  Sizes sizes(i.sizes.begin(), i.sizes.begin() + start);
  sizes.push_back(eager::count(Sizes(i.sizes.begin() + start, i.sizes.begin() + end + 1)));
  sizes.insert(sizes.end(), i.sizes.begin() + end + 1, i.sizes.end());
  return reshape(sizes, here);
}

Tensor Tensor::permute(Sizes dims, Here here) const {
  const auto& i = get(*this, here, "permute");
  if (dims.size() != i.sizes.size()) eager::fail(here, "permute: " + text(dims) + " does not name each axis of " + eager::describe(*this) + " once");
  Sizes seen(dims.size(), 0);
  Geometry to{{}, {}, i.offset};
  for (auto& d : dims) {
    d = eager::wrap_axis(d, dim(), here, "permute");
    if (seen[at(d)]++) eager::fail(here, "permute: " + text(dims) + " names an axis twice");
    to.sizes.push_back(i.sizes[at(d)]);
    to.strides.push_back(i.strides[at(d)]);
  }
  return eager::view("permute", key(dims), *this, std::move(to), [&](Builder& b, const Values& in) { return Values{b.transpose(in[0], dims)}; }, here);
}

Tensor Tensor::transpose(std::int64_t a, std::int64_t b, Here here) const {
  get(*this, here, "transpose");
  a = eager::wrap_axis(a, dim(), here, "transpose"), b = eager::wrap_axis(b, dim(), here, "transpose");
  Sizes dims;
  for (std::int64_t d = 0; d < dim(); ++d) dims.push_back(d == a ? b : d == b ? a : d);
  return permute(dims, here);
}
Tensor Tensor::t(Here here) const {
  if (get(*this, here, "t").sizes.size() > 2) eager::fail(here, "t: " + eager::describe(*this) + " has more than 2 axes; use transpose or permute");
  return dim() == 2 ? transpose(0, 1, here) : *this;
}
Tensor Tensor::mT(Here here) const {
  if (get(*this, here, "mT").sizes.size() < 2) eager::fail(here, "mT: " + eager::describe(*this) + " has fewer than 2 axes");
  return transpose(-2, -1, here);
}

Tensor Tensor::unsqueeze(std::int64_t d, Here here) const {
  const auto& i = get(*this, here, "unsqueeze");
  d = eager::wrap_axis(d, dim() + 1, here, "unsqueeze");
  auto sizes = i.sizes, strides = i.strides;
  sizes.insert(sizes.begin() + d, 1);
  strides.insert(strides.begin() + d, d < dim() ? i.strides[at(d)] * std::max<std::int64_t>(i.sizes[at(d)], 1) : 1);
  return reshaped(*this, sizes, strides, here);
}

Tensor Tensor::squeeze(std::optional<std::int64_t> d, Here here) const {
  const auto& i = get(*this, here, "squeeze");
  if (d) d = eager::wrap_axis(*d, dim(), here, "squeeze");
  Sizes sizes, strides;
  for (std::int64_t k = 0; k < dim(); ++k) {
    if (i.sizes[at(k)] == 1 && (!d || *d == k)) continue;
    sizes.push_back(i.sizes[at(k)]);
    strides.push_back(i.strides[at(k)]);
  }
  return reshaped(*this, sizes, strides, here);
}

Tensor Tensor::expand(Sizes sizes, Here here) const {
  const auto& i = get(*this, here, "expand");
  const auto fewer = sizes.size() < i.sizes.size();
  const auto lead = fewer ? 0 : sizes.size() - i.sizes.size();
  Sizes strides(sizes.size(), 0);
  for (std::size_t d = lead; !fewer && d < sizes.size(); ++d) {
    if (sizes[d] == -1) sizes[d] = i.sizes[d - lead];
    if (i.sizes[d - lead] == sizes[d]) strides[d] = i.strides[d - lead];
    else if (i.sizes[d - lead] != 1) sizes[d] = -2;
  }
  if (fewer || std::any_of(sizes.begin(), sizes.end(), [](auto s) { return s < 0; })) eager::fail(here, "expand: " + eager::describe(*this) + " does not expand to the sizes given; only axes of size 1 stretch, and new ones come first");
  return eager::view("expand", key(sizes), *this, {sizes, strides, i.offset}, [&](Builder& b, const Values& in) { return Values{b.broadcast_to(in[0], ir::to_shape(sizes))}; }, here);
}

Tensor Tensor::slice(std::int64_t d, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step, Here here) const {
  const auto& i = get(*this, here, "slice");
  if (i.sizes.empty()) eager::fail(here, "slice: a tensor of rank 0 has no axes");
  d = eager::wrap_axis(d, dim(), here, "slice");
  if (step < 1) eager::fail(here, "slice: the step is " + std::to_string(step) + "; it must be positive (plumb::flip turns an axis around)");
  const auto n = i.sizes[at(d)];
  const auto cut = [&](std::int64_t p) { return std::clamp<std::int64_t>(p < 0 ? p + n : p, 0, n); };
  const auto from = cut(start.value_or(0)), to = std::max(from, cut(end.value_or(n)));
  Geometry g{i.sizes, i.strides, i.offset + from * i.strides[at(d)]};
  g.sizes[at(d)] = (to - from + step - 1) / step;
  g.strides[at(d)] *= step;
  ir::Ints first(i.sizes.size(), 0), limit(i.sizes), every(i.sizes.size(), 1);
  first[at(d)] = from, limit[at(d)] = to, every[at(d)] = step;
  const auto a = eager::attrs({{"start", first}, {"limit", limit}, {"stride", every}});
  return eager::view("slice", eager::key_of(a), *this, std::move(g), [&](Builder& b, const Values& in) { return Values{b.op("slice", {in[0]}, a)}; }, here);
}

Tensor Tensor::narrow(std::int64_t d, std::int64_t start, std::int64_t length, Here here) const {
  const auto n = size(d, here);
  if (start < 0) start += n;
  if (start < 0 || length < 0 || start + length > n) eager::fail(here, "narrow: " + std::to_string(length) + " places from " + std::to_string(start) + " on are not all in an axis of size " + std::to_string(n));
  return slice(d, start, start + length, 1, here);
}

Tensor Tensor::select(std::int64_t d, std::int64_t index, Here here) const {
  const auto n = size(d, here);
  if (index < -n || index >= n) eager::fail(here, "index " + std::to_string(index) + " is outside of axis " + std::to_string(d) + " of " + eager::describe(*this) + "; places go from " + std::to_string(-n) + " to " + std::to_string(n - 1));
  if (index < 0) index += n;
  return slice(d, index, index + 1, 1, here).squeeze(d, here);
}
Tensor Tensor::operator[](std::int64_t index) const { return select(0, index, Here::current()); }

Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2, Here here) const {
  const auto& i = get(*this, here, "diagonal");
  const auto a = eager::wrap_axis(dim1, dim(), here, "diagonal"), b = eager::wrap_axis(dim2, dim(), here, "diagonal");
  if (dim() < 2 || a == b) eager::fail(here, "diagonal: two different axes are needed; " + eager::describe(*this) + " is asked for " + std::to_string(dim1) + " and " + std::to_string(dim2));
  const auto rows = i.sizes[at(a)] + std::min<std::int64_t>(offset, 0), columns = i.sizes[at(b)] - std::max<std::int64_t>(offset, 0);
  Geometry g{{}, {}, i.offset + std::max<std::int64_t>(offset, 0) * i.strides[at(b)] - std::min<std::int64_t>(offset, 0) * i.strides[at(a)]};
  for (std::int64_t d = 0; d < dim(); ++d)
    if (d != a && d != b) g.sizes.push_back(i.sizes[at(d)]), g.strides.push_back(i.strides[at(d)]);
  g.sizes.push_back(std::max<std::int64_t>(0, std::min(rows, columns)));
  g.strides.push_back(i.strides[at(a)] + i.strides[at(b)]);
  if (g.sizes.back() == 0) g.offset = i.offset;
  const auto attrs = eager::attrs({{"offset", offset}, {"axis1", a}, {"axis2", b}});
  return eager::view("diagonal", eager::key_of(attrs), *this, std::move(g), [&](Builder& builder, const Values& in) { return Values{builder.op("diagonal", {in[0]}, attrs)}; }, here);
}

Tensor Tensor::clone(Here here) const {
  get(*this, here, "clone");
  return eager::call("clone", "", {*this}, here, [](Builder&, const Values& in) { return in; }).at(0);
}
Tensor Tensor::contiguous(Here here) const { return is_contiguous() ? *this : clone(here); }

Tensor Tensor::to(DType to_dtype, Here here) const {
  if (get(*this, here, "to").dtype == to_dtype) return *this;
  return eager::apply1("convert", {*this}, eager::attrs({{"dtype", to_dtype}}), here);
}

}  // namespace plumb

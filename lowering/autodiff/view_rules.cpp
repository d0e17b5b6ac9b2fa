// Operations that move elements: what pulls back is the movement turned round, and a sum where an element went to several places.
#include <algorithm>

#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

std::vector<ValueId> broadcast(const Step& s) {
  const auto& dims = s.a.ints("dims");
  const Type x = s.type(0), r = s.w.type(s.out[0]);
  Ints summed = others(dims, r.rank());
  for (std::size_t k = 0; k < dims.size(); ++k)
    if (x.shape[k] != r.shape[static_cast<std::size_t>(dims[k])]) summed.push_back(dims[k]);
  std::sort(summed.begin(), summed.end());
  return s.first(s.w.b.reshape(s.w.sum(s.g[0], summed), x.shape));
}

std::vector<ValueId> reshape(const Step& s) { return s.first(s.w.b.reshape(s.g[0], s.type(0).shape)); }

std::vector<ValueId> transpose(const Step& s) {
  const auto& perm = s.a.ints("perm");
  Ints back(perm.size());
  for (std::size_t k = 0; k < perm.size(); ++k) back[static_cast<std::size_t>(perm[k])] = static_cast<std::int64_t>(k);
  return s.first(s.w.transpose(s.g[0], back));
}

std::vector<ValueId> slice(const Step& s) {
  const auto rank = s.w.rank(s.in[0]);
  const auto start = s.a.ints("start"), stride = entries(s.a, "stride", rank, 1);
  Ints high, interior;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    const auto n = s.w.size(s.g[0], axis), covered = n == 0 ? 0 : (n - 1) * stride[d] + 1;
    high.push_back(s.w.size(s.in[0], axis) - start[d] - covered);
    interior.push_back(stride[d] - 1);
  }
  return s.first(s.w.pad(s.g[0], 0, start, high, interior));
}

/// The elements of a padded tensor that were x's: those cropped away read 0.
ValueId unpadded(const Step& s, ValueId padded) {
  const auto rank = s.w.rank(s.in[0]);
  const auto low = s.a.ints("low"), high = s.a.ints("high"), interior = entries(s.a, "interior", rank, 0);
  Ints widen_low, widen_high, start, limit, stride;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto n = s.w.size(s.in[0], static_cast<std::int64_t>(d)), covered = n == 0 ? 0 : (n - 1) * (interior[d] + 1) + 1;
    widen_low.push_back(std::max<std::int64_t>(-low[d], 0));
    widen_high.push_back(std::max<std::int64_t>(-high[d], 0));
    start.push_back(std::max<std::int64_t>(low[d], 0));
    limit.push_back(start[d] + covered);
    stride.push_back(interior[d] + 1);
  }
  return s.w.slice(s.w.pad(padded, 0, widen_low, widen_high), start, limit, stride);
}

std::vector<ValueId> pad(const Step& s) {
  auto r = s.nothing();
  if (s.wanted[0]) r[0] = unpadded(s, s.g[0]);
  if (s.wanted[1]) {
    const auto& w = s.w;
    const auto truth = [&](bool value) { return w.b.convert(w.b.scalar(DType::i32, value ? 1 : 0), DType::boolean); };
    const auto inside = w.b.op("pad", {w.b.broadcast_to(truth(false), s.type(0).shape), truth(true)}, s.a);
    r[1] = w.sum(w.select(inside, s.g[0], 0), all_axes(w.type(s.g[0])));
  }
  return r;
}

std::vector<ValueId> concat(const Step& s) {
  auto r = s.nothing();
  const auto axis = static_cast<std::size_t>(s.a.integer("axis"));
  std::int64_t at = 0;
  for (std::size_t k = 0; k < s.in.size(); ++k) {
    const auto size = s.w.size(s.in[k], static_cast<std::int64_t>(axis));
    Ints start(s.w.rank(s.in[k]), 0), limit;
    for (auto d : numbers(0, start.size())) limit.push_back(s.w.size(s.in[k], d));
    start[axis] = at;
    limit[axis] = at += size;
    if (s.wanted[k]) r[k] = s.w.slice(s.g[0], start, limit);
  }
  return r;
}

std::vector<ValueId> reverse(const Step& s) { return s.first(s.w.reverse(s.g[0], s.a.ints("axes"))); }

std::vector<ValueId> convert(const Step& s) { return s.first(s.w.b.convert(s.g[0], s.type(0).dtype)); }

std::vector<ValueId> select(const Step& s) {
  auto r = s.nothing();
  if (s.wanted[1]) r[1] = s.w.select(s.in[0], s.g[0], 0);
  if (s.wanted[2]) r[2] = s.w("select", s.in[0], s.w.b.splat_like(s.g[0], 0), s.g[0]);
  return r;
}

constexpr Rule rules[] = {{"broadcast", &broadcast}, {"reshape", &reshape}, {"transpose", &transpose}, {"slice", &slice}, {"pad", &pad}, {"concat", &concat}, {"reverse", &reverse}, {"convert", &convert}, {"select", &select}};

}  // namespace

std::span<const Rule> view_rules() { return rules; }

}  // namespace plumb::lowering::autodiff

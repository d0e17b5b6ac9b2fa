// Products of tensors: each operand's cotangent is the same kind of product, of the cotangent and the other operand.
#include <algorithm>

#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {
namespace {

/// One side of a dot_general: which of its axes are contracted, batch, or free.
struct Side { Ints contract, batch, free; };

/// Brings a product's axes to where `self` has them: its axis k is self's axis holds[k].
Ints order(const Ints& holds) {
  Ints perm(holds.size());
  for (std::size_t k = 0; k < holds.size(); ++k) perm[static_cast<std::size_t>(holds[k])] = static_cast<std::int64_t>(k);
  return perm;
}
Ints joined(std::initializer_list<Ints> lists) {
  Ints r;
  for (const auto& list : lists) r.insert(r.end(), list.begin(), list.end());
  return r;
}

/// The cotangent of `self`: the product of g and the other operand, contracted over that one's free axes. g's axes are batch, lhs
/// free, rhs free. Of the two orders of the factors the one is taken whose result has self's axes as they stand, where one has.
ValueId pull_side(const Words& w, ValueId g, ValueId other, const Side& self, const Side& that, bool self_is_lhs) {
  const auto batch = self.batch.size(), lhs_free = self_is_lhs ? self.free.size() : that.free.size();
  const Ints g_batch = numbers(0, batch), g_lhs = numbers(batch, batch + lhs_free), g_rhs = numbers(batch + lhs_free, w.rank(g));
  const auto& g_contract = self_is_lhs ? g_rhs : g_lhs;
  Ints of_that = that.contract, contracted;  // free in the product, in the other operand's order; as self's axes
  std::sort(of_that.begin(), of_that.end());
  for (auto axis : of_that) contracted.push_back(self.contract[static_cast<std::size_t>(std::find(that.contract.begin(), that.contract.end(), axis) - that.contract.begin())]);
  const Ints swapped = order(joined({self.batch, contracted, self.free}));
  if (swapped == numbers(0, swapped.size()))
    return w.b.op("dot_general", {other, g}, attrs({{"lhs_contract", that.free}, {"rhs_contract", g_contract}, {"lhs_batch", that.batch}, {"rhs_batch", g_batch}}));
  const auto product = w.b.op("dot_general", {g, other}, attrs({{"lhs_contract", g_contract}, {"rhs_contract", that.free}, {"lhs_batch", g_batch}, {"rhs_batch", that.batch}}));
  return w.transpose(product, order(joined({self.batch, self.free, contracted})));
}

std::vector<ValueId> dot_general(const Step& s) {
  const auto side = [&](std::string_view contract, std::string_view batch, ValueId v) {
    Side r{s.a.ints(contract), s.a.ints(batch), {}};
    Ints taken = r.contract;
    taken.insert(taken.end(), r.batch.begin(), r.batch.end());
    r.free = others(taken, s.w.rank(v));
    return r;
  };
  const auto lhs = side("lhs_contract", "lhs_batch", s.in[0]), rhs = side("rhs_contract", "rhs_batch", s.in[1]);
  auto r = s.nothing();
  if (s.wanted[0]) r[0] = pull_side(s.w, s.g[0], s.in[1], lhs, rhs, true);
  if (s.wanted[1]) r[1] = pull_side(s.w, s.g[0], s.in[0], rhs, lhs, false);
  return r;
}

// ── convolution ──

/// What a convolution's attributes and shapes say, an entry a spatial axis.
struct Sizes {
  Ints stride, low, lhs_dilation, rhs_dilation, dilated_x, dilated_g, window;
  std::int64_t groups;
};

Sizes sizes_of(const Step& s) {
  const auto n = s.w.rank(s.in[0]) - 2;
  Sizes z{entries(s.a, "stride", n, 1), entries(s.a, "low", n, 0), entries(s.a, "lhs_dilation", n, 1), entries(s.a, "rhs_dilation", n, 1), {}, {}, {}, s.a.integer("groups")};
  for (std::size_t d = 0; d < n; ++d) {
    const auto axis = static_cast<std::int64_t>(d + 2);
    z.dilated_x.push_back((s.w.size(s.in[0], axis) - 1) * z.lhs_dilation[d] + 1);
    z.dilated_g.push_back((s.w.size(s.g[0], axis) - 1) * z.stride[d] + 1);
    z.window.push_back(s.w.size(s.in[1], axis));
  }
  return z;
}

/// [g·a, b, …] to [g·b, a, …]: the two sides of each group's channels exchanged.
ValueId exchange(const Words& w, ValueId v, std::int64_t groups) {
  const Shape shape = w.type(v).shape;
  const auto a = shape[0].size() / groups, b = shape[1].size();
  Shape apart{groups, a, b}, joined{groups * b, a};
  Ints perm{0, 2, 1};
  for (std::size_t d = 2; d < shape.size(); ++d) {
    apart.push_back(shape[d]);
    joined.push_back(shape[d]);
    perm.push_back(static_cast<std::int64_t>(d + 1));
  }
  return w.b.reshape(w.transpose(w.b.reshape(v, apart), perm), joined);
}

/// dx[j] gathers g[i] w[t] with i·stride = j + low - t·rhs_dilation: g, dilated by the stride, under the window turned round.
ValueId pull_x(const Step& s, const Sizes& z) {
  Ints low, high;
  for (std::size_t d = 0; d < z.window.size(); ++d) {
    const auto reach = (z.window[d] - 1) * z.rhs_dilation[d];
    low.push_back(reach - z.low[d]);
    high.push_back(z.dilated_x[d] + reach - z.dilated_g[d] - low[d]);
  }
  const auto turned = s.w.reverse(exchange(s.w, s.in[1], z.groups), numbers(2, s.w.rank(s.in[1])));
  return s.w.b.op("convolution", {s.g[0], turned}, attrs({{"stride", z.lhs_dilation}, {"low", low}, {"high", high}, {"lhs_dilation", z.stride}, {"rhs_dilation", z.rhs_dilation}, {"groups", z.groups}}));
}

/// dw[o, c, t] = sum over batch and i of g[i] x[i·stride + t·rhs_dilation - low]: the batch is what is summed as channels.
ValueId pull_w(const Step& s, const Sizes& z) {
  const auto& w = s.w;
  Ints high, swap{1, 0};
  for (std::size_t d = 0; d < z.window.size(); ++d) {
    high.push_back((z.window[d] - 1) * z.rhs_dilation[d] + z.dilated_g[d] - z.dilated_x[d] - z.low[d]);
    swap.push_back(static_cast<std::int64_t>(d + 2));
  }
  const Shape x = s.type(0).shape;
  const auto batch = x[0].size(), per_group = x[1].size() / z.groups;
  Shape apart{batch, z.groups, per_group}, joined{per_group, z.groups * batch};
  Ints perm{2, 1, 0};
  for (std::size_t d = 2; d < x.size(); ++d) {
    apart.push_back(x[d]);
    joined.push_back(x[d]);
    perm.push_back(static_cast<std::int64_t>(d + 1));
  }
  const auto by_channel = w.b.reshape(w.transpose(w.b.reshape(s.in[0], apart), perm), joined);
  const auto r = w.b.op("convolution", {by_channel, w.transpose(s.g[0], swap)}, attrs({{"stride", z.rhs_dilation}, {"low", z.low}, {"high", high}, {"lhs_dilation", z.lhs_dilation}, {"rhs_dilation", z.stride}, {"groups", z.groups}}));
  return w.transpose(r, swap);
}

std::vector<ValueId> convolution(const Step& s) {
  auto r = s.nothing();
  if (s.w.type(s.g[0]).elements() == 0 || s.type(0).elements() == 0 || s.type(1).elements() == 0) return r;
  const auto z = sizes_of(s);
  if (s.wanted[0]) r[0] = pull_x(s, z);
  if (s.wanted[1]) r[1] = pull_w(s, z);
  return r;
}

constexpr Rule rules[] = {{"dot_general", &dot_general}, {"convolution", &convolution}};

}  // namespace

std::span<const Rule> contract_rules() { return rules; }

}  // namespace plumb::lowering::autodiff

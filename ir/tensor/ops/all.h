// The one list of operations. An operation's number is its place in it.
#pragma once
#include "ir/tensor/ops/composite.h"
#include "ir/tensor/ops/contract.h"
#include "ir/tensor/ops/control.h"
#include "ir/tensor/ops/elementwise.h"
#include "ir/tensor/ops/reduce.h"
#include "ir/tensor/ops/view.h"

namespace plumb::ir {

template <TensorOp... Ops> struct OpList {
  static constexpr std::array rows{Ops::row...};
  template <class Op> static consteval OpCode index() {
    constexpr std::array same{std::same_as<Op, Ops>...};
    return static_cast<OpCode>(std::ranges::find(same, true) - same.begin());
  }
  /// An array of f.template operator()<Op>(), one an operation.
  template <class F> static constexpr auto map(F f) { return std::array{f.template operator()<Ops>()...}; }
};

namespace detail {
template <class List, TensorOp... More> struct ElementwiseOf;
template <class... Fns, TensorOp... More> struct ElementwiseOf<FnList<Fns...>, More...> { using type = OpList<ops::Elementwise<Fns>..., More...>; };
}  // namespace detail

using AllOps = detail::ElementwiseOf<AllFns,
    ops::Convert, ops::Select, ops::Constant, ops::Iota,
    ops::Broadcast, ops::Reshape, ops::Transpose, ops::Slice, ops::Pad, ops::Concat, ops::Reverse,
    ops::Gather, ops::GatherElements, ops::ScatterAdd,
    ops::Reduce<scalar::Add>, ops::Reduce<scalar::Mul>, ops::Reduce<scalar::Maximum>, ops::Reduce<scalar::Minimum>, ops::Reduce<scalar::And>, ops::Reduce<scalar::Or>,
    ops::ArgReduce<scalar::Gt>, ops::ArgReduce<scalar::Lt>, ops::ReduceWindow<scalar::Add>, ops::ReduceWindow<scalar::Maximum>,
    ops::Cumsum, ops::SortOp<false>, ops::SortOp<true>, ops::DotGeneral, ops::Convolution, ops::If, ops::While,
    ops::Softmax, ops::LogSoftmax, ops::ReduceMean, ops::LayerNorm, ops::BatchNorm, ops::Relu, ops::Gelu, ops::Silu, ops::Clamp, ops::Matmul>::type;

consteval bool operations_well_formed() {
  for (const auto& r : AllOps::rows)
    if (r.doc.empty() || std::ranges::count(AllOps::rows, r.name, &OpRow::name) != 1) return false;
  return true;
}
static_assert(operations_well_formed(), "every record has a doc and a name of its own");

}  // namespace plumb::ir

// Lists of operations, as types: each family's header ends with its own, ops/all.h joins them.
#pragma once
#include "ir/tensor/record.h"

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
template <class... Lists> struct Join;
template <TensorOp... Ops> struct Join<OpList<Ops...>> { using type = OpList<Ops...>; };
template <TensorOp... A, TensorOp... B, class... More> struct Join<OpList<A...>, OpList<B...>, More...> : Join<OpList<A..., B...>, More...> {};
}  // namespace detail
template <class... Lists> using JoinLists = typename detail::Join<Lists...>::type;

}  // namespace plumb::ir

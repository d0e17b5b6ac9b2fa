// Arguments and results of the callables that transforms take, as lists of tensors and back.
#pragma once
#include <array>
#include <tuple>

#include <plumb/tensor.h>

namespace plumb::pack {

/// A tensor, or a vector, array, pair or tuple of such; numbers and other small values stay as they are.
template <class T> struct Packed {
  static constexpr bool tensors = false;
};
template <> struct Packed<Tensor> {
  static constexpr bool tensors = true;
  static void take(const Tensor& t, std::vector<Tensor>& out) { out.push_back(t); }
  static Tensor give(const Tensor&, const Tensor*& next) { return *next++; }
};
template <class T> struct Packed<std::vector<T>> {
  static constexpr bool tensors = Packed<T>::tensors;
  static void take(const std::vector<T>& v, std::vector<Tensor>& out) { for (const auto& x : v) Packed<T>::take(x, out); }
  static std::vector<T> give(const std::vector<T>& like, const Tensor*& next) {
    std::vector<T> r;
    for (const auto& x : like) r.push_back(Packed<T>::give(x, next));
    return r;
  }
};
template <class T, std::size_t N> struct Packed<std::array<T, N>> {
  static constexpr bool tensors = Packed<T>::tensors;
  static void take(const std::array<T, N>& v, std::vector<Tensor>& out) { for (const auto& x : v) Packed<T>::take(x, out); }
  static std::array<T, N> give(const std::array<T, N>& like, const Tensor*& next) {
    auto r = like;
    for (auto& x : r) x = Packed<T>::give(x, next);
    return r;
  }
};
template <class... T> struct Packed<std::tuple<T...>> {
  static constexpr bool tensors = (Packed<T>::tensors && ...);
  static void take(const std::tuple<T...>& v, std::vector<Tensor>& out) {
    std::apply([&](const auto&... x) { (Packed<std::decay_t<decltype(x)>>::take(x, out), ...); }, v);
  }
  static std::tuple<T...> give(const std::tuple<T...>& like, const Tensor*& next) {
    return std::apply([&](const auto&... x) { return std::tuple<T...>{Packed<T>::give(x, next)...}; }, like);
  }
};
template <class A, class B> struct Packed<std::pair<A, B>> {
  static constexpr bool tensors = Packed<A>::tensors && Packed<B>::tensors;
  static void take(const std::pair<A, B>& v, std::vector<Tensor>& out) { Packed<A>::take(v.first, out), Packed<B>::take(v.second, out); }
  static std::pair<A, B> give(const std::pair<A, B>& like, const Tensor*& next) {
    auto a = Packed<A>::give(like.first, next);
    return {std::move(a), Packed<B>::give(like.second, next)};
  }
};

template <class T> concept Tensors = Packed<std::decay_t<T>>::tensors;

template <Tensors T> std::vector<Tensor> flat(const T& value) {
  std::vector<Tensor> r;
  Packed<std::decay_t<T>>::take(value, r);
  return r;
}
template <Tensors T> T rebuilt(const T& like, const std::vector<Tensor>& from) {
  const Tensor* next = from.data();
  return Packed<std::decay_t<T>>::give(like, next);
}

/// f of the first N tensors.
template <std::size_t N, class F> auto spread(const F& f, const std::vector<Tensor>& x) {
  return [&]<std::size_t... K>(std::index_sequence<K...>) { return f(x[K]...); }(std::make_index_sequence<N>());
}

}  // namespace plumb::pack

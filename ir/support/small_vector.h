// A vector of trivially copyable elements with a fixed capacity, so that indices and shapes of rank
// up to `max_rank` never touch the heap.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "ir/support/error.h"

namespace plumb {

inline constexpr std::size_t max_rank = 12;

template <class T, std::size_t Capacity = max_rank>
class SmallVector {
 public:
  using value_type = T;
  SmallVector() = default;
  explicit SmallVector(std::size_t n, T fill = T{}) {
    for (std::size_t i = 0; i < n; ++i) push_back(fill);
  }
  SmallVector(std::initializer_list<T> xs) {
    for (const T& x : xs) push_back(x);
  }
  template <class It>
  SmallVector(It first, It last) {
    for (; first != last; ++first) push_back(T(*first));
  }
  void push_back(T x) {
    if (size_ == Capacity) fail_unsupported("rank above " + std::to_string(Capacity) + " is not supported");
    data_[size_++] = x;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(std::size_t n, T fill = T{}) {
    while (size_ > n) pop_back();
    while (size_ < n) push_back(fill);
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT: a view of itself
  friend bool operator==(const SmallVector& a, const SmallVector& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  T data_[Capacity]{};
  std::size_t size_ = 0;
};

/// Sizes or an index of a concrete tensor, one entry an axis, outermost first.
using Extents = SmallVector<std::int64_t>;
using Index = SmallVector<std::int64_t>;
using Axes = SmallVector<std::int64_t>;

}  // namespace plumb

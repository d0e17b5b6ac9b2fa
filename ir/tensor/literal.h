// A tensor's value: a type and its elements, dense, row-major, shared and immutable once built.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "ir/tensor/type.h"

namespace plumb::ir {

class Literal {
 public:
  Literal() = default;
  /// Uninitialised storage for a concrete type, 64-byte aligned. Bad input when memory cannot be had.
  explicit Literal(Type type);
  template <class T> static Literal of(DType dtype, std::span<const std::int64_t> extents, std::span<const T> elements) {
    Literal l(Type{dtype, to_shape(extents)});
    require(sizeof(T) == static_cast<std::size_t>(byte_size(dtype)) && l.elements() == static_cast<std::int64_t>(elements.size()),
            "a literal's elements fit its type");
    std::copy(elements.begin(), elements.end(), l.mutable_data<T>());
    return l;
  }
  /// A literal over memory that lives elsewhere; `owner` (may be null) is kept alive with it.
  static Literal alias(Type type, void* data, std::shared_ptr<void> owner);
  const Type& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  Extents extents() const { return type_.extents(); }
  std::int64_t elements() const { return elements_; }
  std::int64_t bytes() const { return elements_ * byte_size(type_.dtype); }
  const void* raw() const { return data_.get(); }
  void* mutable_raw() { return data_.get(); }
  template <class T> const T* data() const { return static_cast<const T*>(raw()); }
  template <class T> T* mutable_data() { return static_cast<T*>(mutable_raw()); }
  /// The same elements under another shape of as many elements.
  Literal reshaped(Shape shape) const;
  /// The same memory as another type of as many bytes: complex elements as pairs of parts, and back.
  Literal viewed_as(Type type) const;
  /// A complex literal as its parts (parts_type); any other as it is.
  Literal as_parts() const { return viewed_as(parts_type(type_)); }
  /// Integers and bools (of any width) as 64-bit values, u64 bit-cast.
  std::int64_t int_at(std::int64_t i) const;
  friend bool operator==(const Literal& a, const Literal& b);  ///< same type and same bytes

 private:
  Type type_;
  std::int64_t elements_ = 0;
  std::shared_ptr<std::byte> data_;
};

}  // namespace plumb::ir

// Types of the tensor IR: dtype × shape. A dimension is a size or a named symbol ("B"), equal only to itself.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "ir/scalar/dtype.h"
#include "ir/support/index_space.h"
#include "ir/support/small_vector.h"

namespace plumb::ir {

/// An interned symbol name; 0 is "no symbol".
using Symbol = std::int32_t;
Symbol intern_symbol(std::string_view name);
std::string symbol_name(Symbol s);

class Dim {
 public:
  Dim() = default;
  Dim(std::int64_t size) : value_(size) {}  // NOLINT: a size is a dimension
  static Dim named(std::string_view symbol) {
    Dim d;
    d.symbol_ = intern_symbol(symbol);
    return d;
  }
  bool is_symbol() const { return symbol_ != 0; }
  Symbol symbol() const { return symbol_; }
  /// The size; bad input when it is still a symbol.
  std::int64_t size() const;
  std::string str() const;
  friend bool operator==(const Dim& a, const Dim& b) { return a.symbol_ == b.symbol_ && a.value_ == b.value_; }

 private:
  std::int64_t value_ = 0;
  Symbol symbol_ = 0;
};

using Shape = SmallVector<Dim>;

struct Type {
  DType dtype = DType::f32;
  Shape shape;
  std::size_t rank() const { return shape.size(); }
  bool is_concrete() const;
  /// Concrete sizes; bad input when a symbol is unbound.
  Extents extents() const;
  std::int64_t elements() const { return element_count(extents()); }
  /// Bytes of a dense row-major array of this type; bad input when that overflows 64 bits.
  std::int64_t bytes() const;
  std::string str() const;  ///< as in the text format: f32[B,4096]
  friend bool operator==(const Type&, const Type&) = default;
};

/// The type of a complex tensor's parts, in the same memory: a last axis of 2 (real, imaginary). Other types: themselves.
Type parts_type(const Type& t);
Shape to_shape(std::span<const std::int64_t> extents);
std::string str(const Shape& shape);

}  // namespace plumb::ir

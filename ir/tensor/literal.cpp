#include "ir/tensor/literal.h"

#include <cstring>

#include "ir/support/blocks.h"

namespace plumb::ir {

Literal::Literal(Type type) : type_(std::move(type)), elements_(type_.elements()) {
  const auto bytes = static_cast<std::size_t>(type_.bytes());
  data_ = take_block(bytes);
  if (!data_) fail_unsupported("out of memory: " + std::to_string(bytes) + " bytes asked for a tensor " + type_.str());
}

Literal Literal::alias(Type type, void* data, std::shared_ptr<void> owner) {
  Literal l;
  l.elements_ = type.elements();
  l.type_ = std::move(type);
  l.data_ = std::shared_ptr<std::byte>(std::move(owner), static_cast<std::byte*>(data));
  return l;
}

Literal Literal::reshaped(Shape shape) const {
  Literal l = *this;
  l.type_.shape = shape;
  require(l.type_.elements() == elements_, "reshaping keeps the number of elements");
  return l;
}

Literal Literal::viewed_as(Type type) const {
  Literal l = *this;
  require(type.bytes() == bytes(), "a view of a literal has its bytes");
  l.elements_ = type.elements();
  l.type_ = std::move(type);
  return l;
}

std::int64_t Literal::int_at(std::int64_t i) const {
  switch (dtype()) {
    case DType::boolean: return data<std::uint8_t>()[i] != 0;
    case DType::i8: return data<std::int8_t>()[i];
    case DType::i16: return data<std::int16_t>()[i];
    case DType::i32: return data<std::int32_t>()[i];
    case DType::i64: return data<std::int64_t>()[i];
    case DType::u8: return data<std::uint8_t>()[i];
    case DType::u16: return data<std::uint16_t>()[i];
    case DType::u32: return data<std::uint32_t>()[i];
    case DType::u64: return static_cast<std::int64_t>(data<std::uint64_t>()[i]);
    default: fail_internal("int_at of a float literal");
  }
}

bool operator==(const Literal& a, const Literal& b) {
  return a.type_ == b.type_ && (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), static_cast<std::size_t>(a.bytes())) == 0);
}

}  // namespace plumb::ir

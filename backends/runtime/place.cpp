#include "backends/runtime/place.h"

#include <cstring>

namespace plumb::backends {

using ir::Literal;

Literal Place::make(const ir::Type& type, const std::string& owner) const {
  if (!device_) return Literal(type);
  auto memory = device_->allocate(element_count(type.extents()) * byte_size(type.dtype), owner);
  void* p = memory.get();
  return Literal::alias(type, p, std::move(memory));
}

Literal Place::from_host(const Literal& l, const std::string& owner) const {
  if (!device_) return l;
  auto r = make(l.type(), owner);
  device_->upload(r.mutable_raw(), l.raw(), l.bytes());
  return r;
}

Literal Place::to_host(const Literal& l) const {
  if (!device_) return l;
  Literal r(l.type());
  device_->download(r.mutable_raw(), l.raw(), l.bytes());
  return r;
}

void Place::copy(Literal& to, const Literal& from) const { copy_bytes(to, 0, from, 0, to.bytes()); }

void Place::copy_bytes(Literal& to, std::int64_t at, const Literal& from, std::int64_t from_at, std::int64_t bytes) const {
  if (bytes == 0) return;
  auto* target = static_cast<char*>(to.mutable_raw()) + at;
  const auto* source = static_cast<const char*>(from.raw()) + from_at;
  if (device_) device_->copy(target, source, bytes);
  else std::memcpy(target, source, static_cast<std::size_t>(bytes));
}

void Place::copy_from_host(Literal& to, const Literal& host) const {
  if (to.bytes() == 0) return;
  if (device_) device_->upload(to.mutable_raw(), host.raw(), to.bytes());
  else std::memcpy(to.mutable_raw(), host.raw(), static_cast<std::size_t>(to.bytes()));
}

void Place::poison(Literal& l) const {
  if (l.bytes() == 0) return;
  if (device_) device_->fill(l.mutable_raw(), 0xff, l.bytes());
  else std::memset(l.mutable_raw(), 0xff, static_cast<std::size_t>(l.bytes()));
}

}  // namespace plumb::backends

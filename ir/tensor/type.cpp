#include "ir/tensor/type.h"

#include <mutex>
#include <vector>

namespace plumb::ir {
namespace {
struct SymbolTable {
  std::mutex mutex;
  std::vector<std::string> names{""};
};
SymbolTable& symbols() {
  static SymbolTable table;
  return table;
}
}  // namespace

Symbol intern_symbol(std::string_view name) {
  auto& t = symbols();
  std::lock_guard lock(t.mutex);
  for (std::size_t i = 1; i < t.names.size(); ++i)
    if (t.names[i] == name) return static_cast<Symbol>(i);
  t.names.emplace_back(name);
  return static_cast<Symbol>(t.names.size() - 1);
}

std::string symbol_name(Symbol s) {
  auto& t = symbols();
  std::lock_guard lock(t.mutex);
  return t.names.at(static_cast<std::size_t>(s));
}

std::int64_t Dim::size() const {
  if (is_symbol()) fail_input("dimension " + symbol_name(symbol_) + " is not bound to a size; give inputs whose shapes bind it");
  return value_;
}

std::string Dim::str() const { return is_symbol() ? symbol_name(symbol_) : std::to_string(value_); }

bool Type::is_concrete() const {
  for (const auto& d : shape)
    if (d.is_symbol()) return false;
  return true;
}

Extents Type::extents() const {
  Extents e;
  for (const auto& d : shape) e.push_back(d.size());
  return e;
}

std::int64_t Type::bytes() const {
  std::int64_t n = elements();
  if (__builtin_mul_overflow(n, static_cast<std::int64_t>(byte_size(dtype)), &n)) fail_input("tensor " + str() + " is larger than 2^63 bytes");
  return n;
}

std::string str(const Shape& shape) {
  std::string s = "[";
  for (std::size_t d = 0; d < shape.size(); ++d) s += (d ? "," : "") + shape[d].str();
  return s + "]";
}

std::string Type::str() const { return std::string(name(dtype)) + ir::str(shape); }

Type parts_type(const Type& t) {
  if (!is_complex(t.dtype)) return t;
  if (t.rank() == max_rank) fail_unsupported(t.str() + ": complex tensors have up to " + std::to_string(max_rank - 1) + " axes; their parts are one more");
  Type parts{part_dtype(t.dtype), t.shape};
  parts.shape.push_back(2);
  return parts;
}

Shape to_shape(std::span<const std::int64_t> extents) { return Shape(extents.begin(), extents.end()); }

}  // namespace plumb::ir

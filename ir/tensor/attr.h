// Attributes of an operation: named values, typed by the operation's record.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/tensor/literal.h"

namespace plumb::ir {

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;
/// The order of alternatives is the order of AttrKind.
using AttrValue = std::variant<bool, std::int64_t, double, std::string, Ints, Reals, Shape, DType, Literal>;
enum class AttrKind : std::uint8_t { boolean, integer, real, text /* an identifier, or @function */, ints, reals, shape, dtype, literal };

/// One attribute that an operation has: its name, kind, and the default in text form ("" = must be given).
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  std::string_view fallback = "";
};

class AttrMap {
 public:
  void set(std::string_view name, AttrValue value);
  const AttrValue* find(std::string_view name) const;
  template <class T> const T& get(std::string_view name) const {
    const auto* v = find(name);
    if (!v || !std::holds_alternative<T>(*v)) missing(name);
    return std::get<T>(*v);
  }
  const Ints& ints(std::string_view name) const { return get<Ints>(name); }
  const Reals& reals(std::string_view name) const { return get<Reals>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  bool flag(std::string_view name) const { return get<bool>(name); }
  double real(std::string_view name) const { return get<double>(name); }
  const std::vector<std::pair<std::string, AttrValue>>& entries() const { return entries_; }
  friend bool operator==(const AttrMap&, const AttrMap&) = default;

 private:
  [[noreturn]] static void missing(std::string_view name);
  std::vector<std::pair<std::string, AttrValue>> entries_;
};

}  // namespace plumb::ir

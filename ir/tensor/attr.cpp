#include "ir/tensor/attr.h"

namespace plumb::ir {

void AttrMap::set(std::string_view name, AttrValue value) {
  for (auto& [n, v] : entries_)
    if (n == name) {
      v = std::move(value);
      return;
    }
  entries_.emplace_back(std::string(name), std::move(value));
}

const AttrValue* AttrMap::find(std::string_view name) const {
  for (const auto& [n, v] : entries_)
    if (n == name) return &v;
  return nullptr;
}

void AttrMap::missing(std::string_view name) { fail_internal("attribute '" + std::string(name) + "' is missing or of another kind"); }

}  // namespace plumb::ir

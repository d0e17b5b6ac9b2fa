#include "ir/kernel/violation.h"

namespace plumb::kir {

std::string Violation::place() const {
  if (buffer.empty()) return {};
  std::string s = buffer + "[";
  for (std::size_t d = 0; d < index.size(); ++d) s += (d ? ", " : "") + std::to_string(index[d]);
  return s + "]";
}

std::string Violation::around() const {
  std::string s;
  for (std::size_t i = 0; i < loops.size(); ++i) s += (i ? ", " : "") + loops[i].first + " = " + std::to_string(loops[i].second);
  return s;
}

std::string Violation::str() const {
  std::string s = "kernel @" + kernel + ": " + name(kind) + ": " + what;
  if (!buffer.empty()) s += "\n  at: " + place();
  if (!statement.empty()) s += "\n  in: " + statement;
  if (!loops.empty()) s += "\n  where " + around();
  return s;
}

}  // namespace plumb::kir

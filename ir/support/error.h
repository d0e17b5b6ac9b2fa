// The one way in which Plumb reports a fault to its caller: an exception that says who is to blame.
// The library never prints and never aborts.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace plumb {

/// Who has to act. `input`: the user's file, text, shape, dtype or flag is wrong (exit code 2).
/// `unsupported`: right, but beyond this build, target or machine (exit code 3).
/// `internal`: Plumb broke one of its own invariants (exit code 3, and a bug report).
enum class ErrorKind { input, unsupported, internal };

/// A place in the user's own text, model or C++ source. Empty file means "unknown".
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  bool known() const { return !file.empty(); }
  std::string str() const {
    if (!known()) return {};
    std::string s = file;
    if (line > 0) s += ":" + std::to_string(line);
    if (column > 0) s += ":" + std::to_string(column);
    return s;
  }
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, SourceLocation where = {})
      : std::runtime_error(where.known() ? where.str() + ": " + message : message), kind_(kind), where_(std::move(where)) {}
  ErrorKind kind() const { return kind_; }
  const SourceLocation& where() const { return where_; }

 private:
  ErrorKind kind_;
  SourceLocation where_;
};

[[noreturn]] inline void fail_input(const std::string& message, SourceLocation where = {}) {
  throw Error(ErrorKind::input, message, std::move(where));
}
[[noreturn]] inline void fail_unsupported(const std::string& message, SourceLocation where = {}) {
  throw Error(ErrorKind::unsupported, message, std::move(where));
}
[[noreturn]] inline void fail_internal(const std::string& message) { throw Error(ErrorKind::internal, "internal error: " + message); }
/// States an invariant of Plumb's own; breaking it is never the user's fault.
inline void require(bool holds, const char* invariant) {
  if (!holds) fail_internal(invariant);
}

}  // namespace plumb

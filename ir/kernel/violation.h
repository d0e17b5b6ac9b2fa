// What a kernel did that its language forbids, found by running it: by the interpreter, or by a target that watches itself.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/support/error.h"
#include "ir/support/small_vector.h"

namespace plumb::kir {

enum class ViolationKind : std::uint8_t {
  out_of_bounds,     ///< an access outside its buffer
  poison,            ///< a read of an element that was not written since its Alloc (or never, of an output)
  race,              ///< two unordered accesses to one element, one a write
  written_twice,     ///< a second store to one element of an output
  never_written,     ///< an element of an output that the kernel left alone
  divergence,        ///< a barrier, shuffle or tile operation that some threads of its scope do not reach
  shuffle_lane,      ///< a shuffle from a lane that is not there
  async,             ///< an access to an element with a copy in flight, or a copy that nothing waits for
  not_uniform        ///< threads of one warp give a tile operation different places
};
constexpr const char* name(ViolationKind k) {
  constexpr const char* names[] = {"out of bounds", "poison", "race", "written twice", "never written", "divergence", "shuffle lane", "async copy", "not uniform"};
  return names[static_cast<std::size_t>(k)];
}

struct Violation {
  ViolationKind kind = ViolationKind::out_of_bounds;
  std::string kernel;
  std::string what;        ///< the fault in words, without the place
  std::string buffer;      ///< as %name; empty when the fault is of no buffer
  Index index;             ///< the element
  std::string statement;
  std::vector<std::pair<std::string, std::int64_t>> loops;  ///< values of the loop variables around, outermost first
  std::string place() const;   ///< %buffer[index]; empty when the fault is of no buffer
  std::string around() const;  ///< i = 1, j = 2
  std::string str() const;     ///< all of it
};

class ViolationError : public Error {
 public:
  explicit ViolationError(Violation v) : Error(ErrorKind::internal, v.str()), violation_(std::move(v)) {}
  const Violation& violation() const { return violation_; }

 private:
  Violation violation_;
};

}  // namespace plumb::kir

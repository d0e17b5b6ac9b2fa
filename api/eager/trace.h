// A function being captured: every operation of this thread is appended to a program instead of being run.
#pragma once
#include <functional>
#include <set>

#include "api/eager/impl.h"
#include "ir/tensor/builder.h"

namespace plumb::eager {

/// Whose value a parameter of the captured program is, beyond the arguments.
struct Captured {
  Tensor tensor;          ///< this one,
  bool gradient = false;  ///< or, then, its gradient at the time of the call
};

struct Trace {
  Trace(const Here& where);
  std::uint64_t serial;                           ///< no other capture has it
  Here here;                                      ///< the line that asked for the capture
  ir::Module module;                              ///< the entry comes last, when all is known; here are functions that it names
  ir::Function entry;
  ir::Builder builder{entry};
  std::uint64_t started;                          ///< storages older than this are parameters
  std::vector<Captured> captured;
  std::map<const Storage*, ir::ValueId> current;  ///< of memory that the program read or changed: its value now
  std::vector<std::shared_ptr<Storage>> keeps;    ///< the storages of `current`
  std::vector<std::shared_ptr<Storage>> changed;  ///< those whose value is another than when the capture began
  /// Leaves whose gradient was read or set, with what it was when the capture began.
  std::vector<std::pair<std::shared_ptr<TensorImpl>, std::shared_ptr<TensorImpl>>> gradients;
  std::vector<std::function<bool()>> guards;      ///< all hold where the program may stand for the function again

  /// The tensor's value in the program.
  ir::ValueId read(const Tensor& t, Here use);
  /// The tensor's elements become the value, of the tensor's own type.
  void write(const Tensor& t, ir::ValueId value, Here use);
  /// Appends a program's operations.
  std::vector<ir::ValueId> append(const ir::Module& m, std::span<const ir::ValueId> inputs, Here use);
  /// A parameter for memory that was there before.
  ir::ValueId parameter(const Tensor& t, bool gradient);
  void note_gradient(const std::shared_ptr<TensorImpl>& leaf);

 private:
  ir::ValueId storage_value(const Tensor& t, Here use);
};

/// The capture that this thread's operations go to, or null.
Trace* active_trace();
/// Makes a capture the active one as long as it lives.
class Capturing {
 public:
  explicit Capturing(std::shared_ptr<Trace> trace);
  ~Capturing();
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;

 private:
  std::shared_ptr<Trace> before_;
};
std::shared_ptr<Trace> shared_active_trace();

/// The positions of a tensor's elements in its storage, i64, row-major; and the operations that read and replace them.
ir::ValueId strided_read(ir::Builder& b, ir::ValueId storage, const Sizes& sizes, const Sizes& strides, std::int64_t offset);
ir::ValueId strided_write(ir::Builder& b, ir::ValueId storage, ir::ValueId update, const Sizes& sizes, const Sizes& strides, std::int64_t offset);

}  // namespace plumb::eager

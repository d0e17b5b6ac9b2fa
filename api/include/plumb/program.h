// Programs as text or ONNX models: run on a target, checked.
#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

/// A dense row-major f32 tensor by value. A c64 tensor is one with a last axis of 2 more: real and imaginary parts.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<float> data;
};

/// off: no checking. sample: some elements of each kernel. kernel: each element of each kernel against its enclosure. full:
/// that, and each kernel once more on small integers and in the exact number systems.
enum class Check : std::uint8_t { off, sample, kernel, full };

struct RunOptions {
  std::string target = "cpu";        ///< or "reference", or "simt"
  Check check = Check::off;
  std::string contract = "relaxed";  ///< or "strict", or "fast"
  std::vector<std::string> allow = {};  ///< with fast: "tf32", "ftz", "approximate": what checks admit beyond relaxed
};

/// What checking said of a run.
struct CheckReport {
  std::int64_t kernels = 0, elements = 0, decided = 0;
  std::vector<std::string> failures;  ///< one sentence a wrong kernel; empty when every decided element is right
};

/// A tensor program: from text, from a .plumb file or from an ONNX model. Compiled at the first run for the inputs'
/// shapes, and again when they change, or a value does that decides a model's shapes or branches.
class Program {
 public:
  static Program parse(std::string_view text);
  static Program load(const std::string& path);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();
  /// Throws std::runtime_error, with place and mend, on inputs that do not fit or a target that is not there. Wrong kernels
  /// are the report's; without a report they throw too, and so does, always, a kernel that the target stopped.
  /// Not for concurrent use.
  std::vector<Array> run(const std::vector<Array>& inputs, const RunOptions& options = {}, CheckReport* report = nullptr);

 private:
  struct State;
  explicit Program(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plumb

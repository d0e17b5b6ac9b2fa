// Answers of one function, judged one stretch after another.
#pragma once
#include <vector>

#include "ir/tensor/literal.h"
#include "verify/functions.h"

namespace plumb::verify {

class Judge {
 public:
  Judge(FnId fn, DType t) { result.fn = fn, result.dtype = t; }
  /// Answers to consecutive f32 bit patterns from `first` on.
  void sweep(std::uint32_t first, std::int64_t n, const std::vector<ir::Literal>& in, const ir::Literal& strict, const ir::Literal& relaxed);
  /// Answers to any arguments, the first n of them.
  void each(std::int64_t n, const std::vector<ir::Literal>& in, const ir::Literal& strict, const ir::Literal& relaxed);

  FunctionResult result;

 private:
  void stretch(std::int64_t n, const std::vector<ir::Literal>& in, const ir::Literal& strict, const ir::Literal& relaxed);
  void one(std::int64_t i, const std::vector<ir::Literal>& in, const ir::Literal& strict, const ir::Literal& relaxed);
  bool enclosed(std::int64_t i, const std::vector<ir::Literal>& in, const ir::Literal& relaxed) const;
  void note(double (&at)[2], const std::vector<ir::Literal>& in, std::int64_t i) const;

  std::vector<float> rounded_;
  std::vector<double> value_;
};

}  // namespace plumb::verify

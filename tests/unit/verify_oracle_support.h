// Small compiled programs for the oracle's tests.
#pragma once
#include <gtest/gtest.h>

#include "backends/runtime/executor.h"
#include "ir/scalar/storage.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/check.h"

namespace plumb::test {

inline std::shared_ptr<backends::Backend> cpu() {
  static const auto backend = backends::make_cpu_backend({2, 0});
  return backend;
}

inline std::shared_ptr<const lowering::Program> lowered(const ir::Module& m, Contract contract = Contract::relaxed, lowering::Fault fault = lowering::Fault::none) {
  lowering::Options o;
  o.contract = contract;
  o.fault = fault;
  o.target = cpu()->facts();
  return lowering::lower(m, o);
}

inline std::uint64_t word(std::uint64_t k) {
  k = (k + 1) * 0x9e3779b97f4a7c15u;
  k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
  return k ^ (k >> 27);
}
/// Uniform in (-1, 1); integers 0 to 2.
inline ir::Literal uniform(const ir::Type& t, std::uint64_t seed = 1) {
  ir::Literal l(t);
  for (std::int64_t i = 0; i < l.elements(); ++i) {
    const auto r = word(seed * 1000003 + static_cast<std::uint64_t>(i));
    store_element(t.dtype, l.mutable_raw(), i, is_float(t.dtype) ? static_cast<double>(static_cast<std::int64_t>(r)) * 0x1p-63 : static_cast<double>(r % 3 * !is_bool(t.dtype) + r % 2 * is_bool(t.dtype)));
  }
  return l;
}
inline std::vector<ir::Literal> uniform_inputs(const ir::Module& m, std::uint64_t seed = 1) {
  std::vector<ir::Literal> r;
  for (auto v : m.entry().params) r.push_back(uniform(m.entry().type(v), seed + r.size()));
  return r;
}

inline verify::CheckOptions quiet(verify::Check mode, Contract contract = Contract::relaxed) {
  verify::CheckOptions o;
  o.mode = mode;
  o.contract = contract;
  o.backend = cpu();
  o.write_repro = false;
  return o;
}

/// The report of a checked run.
inline verify::Report checked(const ir::Module& m, const std::vector<ir::Literal>& inputs, const verify::CheckOptions& o, lowering::Fault fault = lowering::Fault::none) {
  verify::KernelChecker checker(o);
  backends::Session(lowered(m, o.contract, fault), cpu()).run(inputs, {&checker, true});
  return checker.report();
}

inline bool failed_by(const verify::Report& r, const std::string& check) {
  return std::any_of(r.failures.begin(), r.failures.end(), [&](const auto& f) { return f.check == check; });
}

}  // namespace plumb::test

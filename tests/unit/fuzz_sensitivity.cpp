// The oracle's sensitivity at a few sizes: no right kernel is rejected, every faulty one is; and each claim of who finds what.
#include <gtest/gtest.h>

#include "backends/backend.h"
#include "fuzz/sensitivity.h"
#include "verify/simt_target.h"

namespace plumb::fuzz {
namespace {

std::vector<SubjectResult> measure(std::vector<std::string> ops, std::vector<DType> dtypes, std::vector<std::int64_t> sizes, std::shared_ptr<backends::Backend> target = backends::make_cpu_backend({1, 0})) {
  SensitivityOptions o;
  o.ops = std::move(ops);
  o.dtypes = std::move(dtypes);
  o.sizes = std::move(sizes);
  o.target = std::move(target);
  o.faults = 1;
  std::vector<SubjectResult> results;
  measure_sensitivity(o, [&](const SubjectResult& r) { results.push_back(r); });
  return results;
}
void expect_sharp(const std::vector<SubjectResult>& results) {
  for (const auto& r : results) {
    EXPECT_GT(r.right.programs, 0);
    EXPECT_EQ(r.right.rejected, 0) << r.op << " " << name(r.dtype) << " " << r.k << ": " << (r.right.alarms.empty() ? "" : r.right.alarms[0]);
    EXPECT_EQ(r.faults.size() / data_names.size() + r.not_applicable.size(), fault_rows.size());
    for (const auto& [key, c] : r.faults) EXPECT_EQ(c.rejected, c.judged) << r.op << " " << name(r.dtype) << " " << r.k << ": " << name(key.first);
  }
}
std::int64_t by(const SubjectResult& r, FaultKind kind, Way way) {
  std::int64_t n = 0;
  for (const auto& [key, c] : r.faults)
    if (key.first == kind) n += c.by[static_cast<std::size_t>(way)];
  return n;
}
std::int64_t judged(const SubjectResult& r, FaultKind kind) {
  std::int64_t n = 0;
  for (const auto& [key, c] : r.faults)
    if (key.first == kind) n += c.judged;
  return n;
}

TEST(Sensitivity, every_operation_at_64_terms) { expect_sharp(measure({subject_ops.begin(), subject_ops.end()}, {DType::f32}, {64})); }
TEST(Sensitivity, every_dtype_at_512_terms) { expect_sharp(measure({"sum"}, {DType::f8e4m3fn, DType::f8e5m2, DType::bf16, DType::f16, DType::f64}, {512})); }
TEST(Sensitivity, a_million_terms) { expect_sharp(measure({"sum"}, {DType::f32}, {1 << 20})); }
TEST(Sensitivity, on_a_grid) { expect_sharp(measure({"max", "gemm"}, {DType::f32}, {512}, verify::make_simt_backend())); }

/// A dropped term of many is rarely a maximum's greatest: values do not show it, counts do.
TEST(Sensitivity, what_a_maximum_loses_is_provenances_to_find) {
  for (const auto& r : measure({"max"}, {DType::f32}, {16384})) {
    EXPECT_EQ(by(r, FaultKind::dropped_term, Way::enclosure), 0);
    EXPECT_EQ(by(r, FaultKind::dropped_term, Way::provenance), judged(r, FaultKind::dropped_term));
  }
}
/// Exact systems have no precision to lose; sums that cancel do, whatever the format of the result.
TEST(Sensitivity, a_narrow_accumulator_is_the_cancelling_sums_to_find) {
  for (const auto& r : measure({"sum"}, {DType::f8e4m3fn, DType::f32}, {64, 4096})) {
    for (auto w : {Way::ring, Way::prime, Way::provenance}) EXPECT_EQ(by(r, FaultKind::narrow_accumulator, w), 0);
    EXPECT_EQ(by(r, FaultKind::narrow_accumulator, Way::cancelling_integers), judged(r, FaultKind::narrow_accumulator)) << r.op << " " << name(r.dtype) << " " << r.k;
    EXPECT_EQ(by(r, FaultKind::narrow_accumulator, Way::declaration), judged(r, FaultKind::narrow_accumulator)) << r.op << " " << name(r.dtype) << " " << r.k;
  }
}

}  // namespace
}  // namespace plumb::fuzz

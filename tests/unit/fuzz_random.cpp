// Random programs on cpu and simt, every kernel checked: no wrong answer and no false alarm. Long runs are `plumb fuzz`.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "backends/runtime/executor.h"
#include "fuzz/generator.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"
#include "verify/check.h"
#include "verify/simt_target.h"

namespace plumb {
namespace {

std::string fault_of(const fuzz::Case& c, const std::shared_ptr<backends::Backend>& target, Contract contract = Contract::relaxed) {
  lowering::Options o;
  o.target = target->facts();
  o.contract = contract;
  verify::CheckOptions check;
  check.write_repro = false;
  check.contract = contract;
  verify::KernelChecker checker(check);
  backends::Session(lowering::lower(c.module, o), target).run(c.inputs, {&checker, true});
  if (checker.report().passed()) return {};
  const auto& f = checker.report().failures[0];
  return f.operations + " at " + f.index + ": got " + f.got + ", allowed " + f.allowed + "\n" + ir::print(c.module);
}

void expect_right(const std::shared_ptr<backends::Backend>& target, std::uint64_t first, std::uint64_t count, Contract contract = Contract::relaxed) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto choose = fuzz::seeded(seed);
    const auto c = fuzz::generate(choose, 1 + static_cast<int>(choose(8)));
    const auto fault = fault_of(c, target, contract);
    ASSERT_TRUE(fault.empty()) << "seed " << seed << ": " << fault;
  }
}

TEST(RandomPrograms, are_right_on_cpu) { expect_right(backends::make_cpu_backend({1, 0}), 0, 250); }

TEST(RandomPrograms, are_right_on_narrow_vectors_and_many_threads) { expect_right(backends::make_cpu_backend({5, 16}), 1000, 80); }
TEST(RandomPrograms, are_right_on_simt) { expect_right(verify::make_simt_backend(), 2000, 250); }

/// Strict: the reference's bits, fused or not.
TEST(RandomPrograms, have_the_references_bits_under_strict) {
  expect_right(backends::make_cpu_backend({1, 0}), 3000, 75, Contract::strict);
  expect_right(verify::make_simt_backend(), 3075, 225, Contract::strict);
}

TEST(RandomPrograms, from_rapidcheck_are_right_on_cpu_and_simt) {
  const auto cpu = backends::make_cpu_backend({1, 0}), simt = verify::make_simt_backend();
  EXPECT_TRUE(rc::check("every kernel is inside its enclosure", [&] {
    const auto stream = *rc::gen::container<std::vector<std::uint32_t>>(64, rc::gen::arbitrary<std::uint32_t>());
    std::size_t at = 0;
    const auto rest = fuzz::seeded(stream[0]);  // past the stream, choices follow from its first word
    const auto c = fuzz::generate([&](std::uint64_t bound) { return bound == 0 ? 0 : at < stream.size() ? stream[at++] % bound : rest(bound); }, 3);
    for (const auto& target : {cpu, simt}) {
      const auto fault = fault_of(c, target);
      RC_ASSERT(fault.empty());
    }
  }));
}

TEST(RandomPrograms, print_and_parse_back) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto c = fuzz::generate(fuzz::seeded(seed), 6);
    const auto text = ir::print(c.module);
    EXPECT_EQ(ir::print(ir::parse(text)), text);
  }
}

}  // namespace
}  // namespace plumb

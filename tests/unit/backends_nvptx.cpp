// PTX of the products' kernels: which instructions they come to, and that NVIDIA's assembler takes them where it is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/backend.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"

namespace plumb::backends {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Product {
  std::string name, dtype;
  Contract contract;
  std::int64_t m, n, k;
  std::vector<std::string> holds, lacks;
};
std::ostream& operator<<(std::ostream& o, const Product& p) { return o << p.name; }

std::string ptx(const Product& p, const std::string& arch) {
  const auto matrix = [&](std::int64_t r, std::int64_t c) { return p.dtype + "[" + std::to_string(r) + "," + std::to_string(c) + "]"; };
  const auto out = matrix(p.m, p.n);
  lowering::Options o;
  o.contract = p.contract;
  o.target = nvidia_facts();
  const auto program = lowering::lower(ir::parse("func @f(%x: " + matrix(p.m, p.k) + ", %w: " + matrix(p.k, p.n) + ") -> (" + out + ") { %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : " + out + " %1 = relu(%0) : " + out + " return %1 }", "test"), o);
  const kir::Kernel* k = program->kernels.at(0).get();
  return make_cuda_compiler(arch)->compile({&k, 1})->code(0, true);
}

class NvptxProduct : public testing::TestWithParam<std::tuple<Product, std::string>> {};

TEST_P(NvptxProduct, HoldsTheInstructionsOfItsScheduleAndAssembles) {
  const auto& [p, arch] = GetParam();
  const auto text = ptx(p, arch);
  EXPECT_THAT(text, HasSubstr(".target " + arch));
  for (const auto& s : p.holds) EXPECT_THAT(text, HasSubstr(s));
  for (const auto& s : p.lacks) EXPECT_THAT(text, Not(HasSubstr(s)));
#ifdef PLUMB_PTXAS
  const auto file = std::filesystem::temp_directory_path() / ("plumb_" + p.name + arch + ".ptx");
  std::ofstream(file) << text;
  EXPECT_EQ(std::system((PLUMB_PTXAS " -arch=" + arch + " " + file.string() + " -o /dev/null").c_str()), 0) << text;
  std::filesystem::remove(file);
#endif
}

INSTANTIATE_TEST_SUITE_P(Products, NvptxProduct, testing::Combine(testing::Values(
    // Whole tiles: every access to operands and result is of 16 bytes, every step one fused multiply-add.
    Product{"f32", "f32", Contract::strict, 2048, 2048, 256, {"fma.rn.f32", "ld.global.v4.f32", "ld.shared.v4.f32", "st.global.v4.f32", "minnctapersm 2"}, {"ld.global.f32", "mul.f32", "mul.rn.f32", "ld.local"}},
    Product{"f32_ragged", "f32", Contract::strict, 101, 67, 77, {"fma.rn.f32"}, {}},
    Product{"f64", "f64", Contract::strict, 128, 128, 64, {"fma.rn.f64", "ld.shared.v2.f64"}, {}},
    Product{"bf16", "bf16", Contract::relaxed, 2048, 2048, 256, {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "ldmatrix.sync.aligned.m8n8.x4.trans", "ld.global.v4", "st.global.v4"}, {"ld.local"}},
    Product{"f16", "f16", Contract::relaxed, 100, 72, 48, {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}, {}},
    // Matrix units truncate, which strict does not.
    Product{"bf16_strict", "bf16", Contract::strict, 128, 128, 64, {"fma.rn.f32"}, {"mma.sync"}}), testing::Values("sm_80", "sm_90a")),
  [](const auto& i) { return std::get<0>(i.param).name + "_" + std::get<1>(i.param); });

}  // namespace
}  // namespace plumb::backends

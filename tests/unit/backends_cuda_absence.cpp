// A GPU that is not there, or is lost, takes nothing from the process: the CPU target answers in it, before and after. The driver
// is tests/support/fake_cuda.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "backends/runtime/executor.h"
#include "ir/support/error.h"
#include "ir/tensor/text.h"
#include "lowering/pipeline.h"

namespace plumb::backends {
namespace {

/// x + x of 1, 2, 3.
std::vector<double> doubled(const std::shared_ptr<Backend>& backend) {
  lowering::Options o;
  o.target = backend->facts();
  Session session(lowering::lower(ir::parse("func @f(%x: f32[3]) -> (f32[3]) { %0 = add(%x, %x) : f32[3] return %0 }", "test"), o), backend);
  ir::Literal x(ir::Type{DType::f32, {3}});
  for (int k = 0; k < 3; ++k) x.mutable_data<float>()[k] = static_cast<float>(k + 1);
  const auto r = session.run({&x, 1});
  return {r[0].data<float>(), r[0].data<float>() + 3};
}

std::string refusal(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    return e.what();
  }
  return "no error";
}

struct Absence { const char *name, *library, *setting, *says; };
std::ostream& operator<<(std::ostream& o, const Absence& a) { return o << a.name; }
class CudaAbsence : public testing::TestWithParam<Absence> {};

TEST_P(CudaAbsence, IsSaidAndTheCpuAnswersInTheSameProcess) {
  setenv("PLUMB_CUDA_DRIVER", GetParam().library, 1);
  setenv("PLUMB_FAKE_CUDA", GetParam().setting, 1);
  const auto cpu = make_cpu_backend({1, 0});
  EXPECT_THAT(doubled(cpu), testing::ElementsAre(2, 4, 6));
  for (int again = 0; again < 2; ++again) EXPECT_THAT(refusal([] { doubled(make_cuda_backend()); }), testing::HasSubstr(GetParam().says));
  EXPECT_THAT(doubled(cpu), testing::ElementsAre(2, 4, 6));
}

INSTANTIATE_TEST_SUITE_P(Each, CudaAbsence, testing::Values(
    Absence{"no_library", "/nonexistent/libcuda.so", "", "cannot be loaded"},
    Absence{"no_device", PLUMB_FAKE_CUDA, "devices=0", "no NVIDIA GPU"},
    Absence{"old_driver", PLUMB_FAKE_CUDA, "version=11080", "too old"},
    Absence{"old_device", PLUMB_FAKE_CUDA, "major=7,minor=5", "sm_75"},
    Absence{"memory", PLUMB_FAKE_CUDA, "memory=8", "out of memory"},
    Absence{"lost_at_launch", PLUMB_FAKE_CUDA, "lost=cuLaunchKernel:1:700", "lost"},
    Absence{"lost_while_waiting", PLUMB_FAKE_CUDA, "lost=cuStreamSynchronize:1:719", "lost"}), [](const auto& i) { return i.param.name; });

}  // namespace
}  // namespace plumb::backends

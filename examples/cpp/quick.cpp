// A program as text, run on the compiler with every kernel checked, and on the reference.
#include <plumb/plumb.h>

#include <iostream>

int main() {
  auto program = plumb::Program::parse(R"(
    func @main(%x: f32[2,3], %w: f32[3,2]) -> (f32[2,2]) {
      %0 = dot_general(%x, %w) {lhs_contract=[1], rhs_contract=[0]} : f32[2,2]
      %1 = relu(%0) : f32[2,2]
      return %1
    })");
  const plumb::Array x{{2, 3}, {1, 2, 3, 4, 5, 6}}, w{{3, 2}, {1, -1, 0, 2, -1, 1}};
  plumb::CheckReport report;
  const auto y = program.run({x, w}, {.target = "cpu", .check = plumb::Check::kernel}, &report)[0];
  const auto reference = program.run({x, w}, {.target = "reference"})[0];
  for (float v : y.data) std::cout << v << ' ';
  std::cout << "\nchecked " << report.kernels << " kernel, " << report.decided << " of " << report.elements << " elements decided\n";
  const bool right = report.failures.empty() && y.data == std::vector<float>{0, 6, 0, 12} && y.data == reference.data;
  return right ? 0 : 1;
}

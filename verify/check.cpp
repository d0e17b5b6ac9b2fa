#include "verify/check.h"

#include "verify/accumulation.h"
#include "ir/tensor/op_table.h"
#include "verify/oracle.h"
#include "verify/residual.h"

namespace plumb::verify {

void Report::add(const Report& o) {
  kernels += o.kernels;
  elements += o.elements;
  decided += o.decided;
  inconclusive += o.inconclusive;
  undecided += o.undecided;
  exact_kernels += o.exact_kernels;
  exact_elements += o.exact_elements;
  if (o.worst > worst) worst = o.worst, worst_at = o.worst_at;
  failures.insert(failures.end(), o.failures.begin(), o.failures.end());
  notes.insert(notes.end(), o.notes.begin(), o.notes.end());
}

void KernelChecker::after_launch(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) {
  if (options_.mode == Check::off) return;
  if (options_.progress) options_.progress(kernel, ordinal);
  ++report_.kernels;
  if (options_.mode == Check::sample) {
    judge_sample(kernel, ordinal, inputs, outputs[0], options_, report_);
  } else {
    judge(kernel, ordinal, inputs, outputs[0], options_, report_);
  }
  if (!seen_.insert(&kernel).second) return;
  check_accumulation(kernel, ordinal, inputs, options_, report_);
  if (options_.mode == Check::full) check_exact(kernel, ordinal, inputs, options_, report_);
}

void KernelChecker::after_call(const lowering::LibraryCall& call, int ordinal, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) {
  if (options_.mode == Check::off) return;
  const auto& node = call.spec->nodes[0];
  const auto r = judge_library(node, inputs, outputs);
  ++report_.kernels;
  report_.elements += r.elements;
  report_.inconclusive += r.inconclusive;
  report_.decided += r.elements - r.inconclusive;
  if (r.wrong == 0) return;
  Failure f;
  f.check = "residual";
  f.count = r.wrong;
  f.index = r.index;
  f.got = r.got;
  f.allowed = r.allowed;
  add_failure(std::move(f), Subject{std::string(ir::name(node)), "library", *call.spec}, ordinal, inputs, options_, report_);
}

void KernelChecker::on_violation(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const kir::Violation& violation) {
  ++report_.kernels;
  add_violation(violation, "", kernel, ordinal, inputs, options_, report_);
}

void check_program(const ir::Module& m, std::span<const ir::Literal> inputs, std::span<const ir::Literal> results, Report& report) {
  std::vector<interp::EnclosedTensor> expected;
  try {
    expected = interp::evaluate_enclosure(m, inputs);
  } catch (const Error& e) {
    report.notes.push_back(std::string("the whole program has no enclosure: ") + e.what());
    return;
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const auto l = results[k].as_parts();
    Tally tally(l.dtype(), l.extents());
    for (std::int64_t i = 0; i < l.elements(); ++i) tally.see(i, expected[k].elements[static_cast<std::size_t>(i)], interp::load(l.dtype(), l.raw(), i));
    const auto& names = m.entry().result_names;
    const std::string name = k < names.size() && !names[k].empty() ? names[k] : "result" + std::to_string(k);
    Failure f;
    f.check = "program";
    if (tally.finish(report, name, f)) continue;
    f.kernel = "@" + m.entry().name;
    f.operations = "result " + name;
    report.failures.push_back(std::move(f));
  }
}

}  // namespace plumb::verify

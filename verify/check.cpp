#include "verify/check.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "interpreter/tensor/evaluate.h"
#include "ir/files/files.h"
#include "ir/files/npz.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"

namespace plumb::verify {
namespace {

using interp::Enclosed;

std::string show(DType t, interp::Number v) {
  if (is_float(t)) return fmt::format("{}", v.f);
  if (is_bool(t)) return v.u ? "true" : "false";
  return is_signed(t) ? fmt::format("{}", v.i) : fmt::format("{}", v.u);
}
std::string show(DType t, const Enclosed& e) {
  if (!is_float(t)) return e.ilo == e.ihi ? show(t, interp::Number{.i = e.ilo}) : fmt::format("[{}, {}]", e.ilo, e.ihi);
  if (!(e.lo <= e.hi)) return "NaN";
  return fmt::format("[{}, {}]{}", e.lo, e.hi, e.nan ? " or NaN" : "");
}
std::string show(const Index& i) { return fmt::format("[{}]", fmt::join(i.begin(), i.end(), ",")); }

std::string operations_of(const ir::Function& spec) {
  std::string s;
  for (const auto& n : spec.nodes) {
    const auto c = ir::row(n.op).op_class;
    if (c == ir::OpClass::source || c == ir::OpClass::view) continue;
    if (s.size() > 300) return s + ", …";
    s += (s.empty() ? "" : ", ") + std::string(ir::name(n));
    if (n.where.known()) s += " (" + n.where.str() + ")";
  }
  return s;
}

/// The kernel's specification and inputs as files; the command that runs them alone.
std::string write_repro(const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& o) {
  if (!o.write_repro) return {};
  namespace fs = std::filesystem;
  const fs::path dir = fs::path(o.repro_dir) / fmt::format("{}-launch{}", k.name, ordinal);
  fs::create_directories(dir);
  ir::Function main = *k.spec;
  main.name = "main";
  ir::write_file((dir / "kernel.plumb").string(), ir::print(main));
  ir::NamedLiterals named;
  for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace_back(main.value(main.params[i]).name, inputs[i]);
  ir::save_npz((dir / "inputs.npz").string(), named);
  return fmt::format("plumb run {0}/kernel.plumb --inputs {0}/inputs.npz --check kernel --target {1} --contract {2}", dir.string(), o.target, name(o.contract));
}

double position(const Enclosed& e, double got) {
  const double half = e.hi / 2 - e.lo / 2, mid = e.lo / 2 + e.hi / 2;
  return half > 0 && std::isfinite(half) ? std::fabs(got - mid) / half : 0;
}

}  // namespace

bool judge(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& o, Report& report) {
  ir::Module m;
  m.functions.push_back(*kernel.spec);
  m.functions.back().name = "main";
  interp::EnclosureOptions heights;
  for (const auto& r : kernel.reductions) heights.heights[r.spec_node] = r.height;
  const DType t = output.dtype();
  const bool strict = o.contract == Contract::strict;
  std::vector<Enclosed> expected;
  if (strict) {
    const auto exact = interp::evaluate(m, inputs)[0];
    for (std::int64_t i = 0; i < output.elements(); ++i) expected.push_back(Enclosed::point(t, interp::load(t, exact.raw(), i)));
  } else {
    expected = interp::evaluate_enclosure(m, inputs, heights)[0].elements;
  }
  Failure f;
  for (std::int64_t i = 0; i < output.elements(); ++i) {
    const auto got = interp::load(t, output.raw(), i);
    const auto& e = expected[static_cast<std::size_t>(i)];
    const auto allowed = interp::stored(e, t);
    ++report.elements;
    if (!interp::contains(allowed, t, got)) {
      ++report.decided;
      if (f.count++ == 0) {
        f.index = show(delinearize(i, output.extents()));
        f.got = show(t, got);
        f.allowed = show(t, allowed);
      }
      continue;
    }
    if (interp::is_wide(e, t)) {
      ++report.inconclusive;
      continue;
    }
    ++report.decided;
    if (is_float(t)) {
      const double p = position(e, got.f);
      if (p > report.worst) report.worst = p, report.worst_at = kernel.name + " " + show(delinearize(i, output.extents()));
    }
  }
  if (f.count == 0) return true;
  f.kernel = kernel.name;
  f.schedule = kernel.schedule;
  f.operations = operations_of(*kernel.spec);
  f.launch = ordinal;
  f.reproduce = write_repro(kernel, ordinal, inputs, o);
  report.failures.push_back(std::move(f));
  return false;
}

bool KernelChecker::chosen(int ordinal) const {
  if (options_.mode == Check::off) return false;
  if (options_.mode != Check::sample) return true;
  return ((static_cast<std::uint64_t>(ordinal) + 1) * 0x9e3779b97f4a7c15u >> 61) == 0;
}

void KernelChecker::after_launch(const kir::Kernel& kernel, int ordinal, std::span<const ir::Literal> inputs, std::span<const ir::Literal> outputs) {
  if (!chosen(ordinal)) return;
  if (options_.progress) options_.progress(kernel, ordinal);
  ++report_.kernels;
  judge(kernel, ordinal, inputs, outputs[0], options_, report_);
}

}  // namespace plumb::verify

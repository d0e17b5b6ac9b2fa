// Failures as files: the kernel's specification and the inputs it got, and the command that runs them alone.
#include <fmt/format.h>

#include <filesystem>

#include "ir/files/files.h"
#include "ir/files/npz.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/text.h"
#include "verify/oracle.h"

namespace plumb::verify {
namespace {

std::string granted(const Allowances& allow) {
  std::string s;
  for (const auto& r : allowance_rows)
    if (allow.*r.granted) s += (s.empty() ? " --allow " : ",") + std::string(r.name);
  return s;
}

std::string operations_of(const ir::Function& spec) {
  std::string s;
  for (const auto& n : spec.nodes) {
    const auto c = ir::row(n.op).op_class;
    if (c == ir::OpClass::source || (c == ir::OpClass::view && spec.nodes.size() > 1)) continue;
    if (s.size() > 300) return s + ", …";
    s += (s.empty() ? "" : ", ") + std::string(ir::name(n));
    if (n.where.known()) s += " (" + n.where.str() + ")";
  }
  return s;
}

/// A word as the shell takes it.
std::string quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/:=") == std::string::npos) return word;
  std::string r = "'";
  for (char c : word) r += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return r + "'";
}

std::string write_repro(const Subject& k, int ordinal, std::span<const ir::Literal> inputs, const std::string& check, const CheckOptions& o) {
  namespace fs = std::filesystem;
  const fs::path dir = fs::path(o.repro_dir) / fmt::format("{}-launch{}", k.name, ordinal);
  std::error_code failed;
  fs::create_directories(dir, failed);
  if (failed) return fmt::format("(no files: {} cannot be made: {})", dir.string(), failed.message());
  ir::Function main = k.spec;
  main.name = "main";
  ir::write_file((dir / "kernel.plumb").string(), ir::print(main));
  ir::NamedLiterals named;
  for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace_back(main.value(main.params[i]).name, inputs[i]);
  ir::save_npz((dir / "inputs.npz").string(), named);
  const bool exact = check.find("integers") != std::string::npos || check.find("provenance") != std::string::npos || check == "accumulation";
  return fmt::format("plumb run {} --inputs {} --check {} --target {} --contract {}", quoted((dir / "kernel.plumb").string()), quoted((dir / "inputs.npz").string()), exact ? "full" : "kernel", o.target, name(o.contract)) + granted(o.allow);
}

}  // namespace

void add_failure(Failure f, const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& o, Report& report) {
  add_failure(std::move(f), Subject{k.name, k.schedule, *k.spec}, ordinal, inputs, o, report);
}

void add_failure(Failure f, const Subject& k, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& o, Report& report) {
  for (auto& known : report.failures)
    if (known.kernel == k.name && known.check == f.check) {
      ++known.launches;
      return;
    }
  f.kernel = k.name;
  f.schedule = k.schedule;
  f.operations = operations_of(k.spec);
  f.launch = ordinal;
  if (o.write_repro) f.reproduce = write_repro(k, ordinal, inputs, f.check, o);
  report.failures.push_back(std::move(f));
}

void add_violation(const kir::Violation& v, const std::string& system, const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& o, Report& report) {
  Failure f;
  f.check = name(v.kind) + (system.empty() ? "" : " on " + system);
  f.index = v.place();
  f.got = v.what + (v.statement.empty() ? "" : "; in: " + v.statement) + (v.loops.empty() ? "" : ", where " + v.around());
  add_failure(std::move(f), k, ordinal, inputs, o, report);
}

}  // namespace plumb::verify

#include "fuzz/sensitivity.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "backends/runtime/executor.h"
#include "lowering/pipeline.h"
#include "verify/oracle.h"

namespace plumb::fuzz {
namespace {

constexpr std::array all_data{DataKind::normal, DataKind::uniform, DataKind::cancelling, DataKind::integers};

class Clock {
 public:
  explicit Clock(double limit) : limit_(limit) {}
  bool over() const { return limit_ > 0 && std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= limit_; }

 private:
  double limit_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Schedules are made for these facts, not for the host's, so that a run measures the same kernels everywhere.
lowering::Options schedule(const backends::Backend& target, int vector_bytes, Contract contract, std::set<std::string> disabled = {}) {
  lowering::Options o;
  o.target = target.facts();
  o.contract = contract;
  o.disabled = std::move(disabled);
  if (!o.target.grid) o.target.vector_bytes = vector_bytes, o.target.vector_registers = 16, o.target.threads = vector_bytes == 64 ? 4 : 1, o.target.l2_bytes = 1 << 20;
  return o;
}
std::vector<lowering::Options> lowerings(const backends::Backend& target) {
  return {schedule(target, 32, Contract::relaxed), schedule(target, 64, Contract::relaxed), schedule(target, 16, Contract::relaxed, {"fuse"}), schedule(target, 32, Contract::strict)};
}

// ── what is right ──

void check_right(const Subject& s, const SensitivityOptions& o, RightCount& count) {
  const auto ways = lowerings(*o.target);
  const auto runs = std::max<std::int64_t>(1, o.trials * 64 / s.k / static_cast<std::int64_t>(ways.size()));
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const Clock share(o.seconds / 2 / static_cast<double>(ways.size()));
    backends::Session session(lowering::lower(s.module, ways[way]), o.target);
    verify::CheckOptions check;
    check.contract = ways[way].contract;
    check.backend = o.target;
    check.write_repro = false;
    check.exact_steps = std::int64_t{1} << 24;
    verify::Report report;
    for (std::int64_t run = 0; run == 0 || (o.seconds > 0 ? !share.over() : run < runs); ++run) {
      check.mode = run == 0 && (way == 0 || s.k <= 4096) ? verify::Check::full : verify::Check::kernel;
      verify::KernelChecker checker(check);
      session.run(make_data(s, all_data[static_cast<std::size_t>(run) % all_data.size()], o.seed + static_cast<std::uint64_t>(run) * ways.size() + way), {&checker, true});
      report.add(checker.report());
    }
    count.programs += report.kernels;
    count.elements += report.elements;
    count.decided += report.decided;
    count.rejected += static_cast<std::int64_t>(report.failures.size());
    for (const auto& f : report.failures)
      if (count.alarms.size() < 8) count.alarms.push_back(fmt::format("{} {} {}: got {}, allowed {} ({})", f.check, f.schedule, f.index, f.got, f.allowed, f.operations));
  }
}

// ── what is not ──

/// The kernels of one run, with what they got.
class Capture : public backends::Observer {
 public:
  struct Launch { const kir::Kernel* kernel; std::vector<ir::Literal> inputs; };
  void before_launch(const kir::Kernel& k, int, std::span<const ir::Literal> inputs) override {
    std::vector<ir::Literal> copies;
    for (const auto& l : inputs) {
      copies.emplace_back(l.type());
      std::memcpy(copies.back().mutable_raw(), l.raw(), static_cast<std::size_t>(l.bytes()));
    }
    launches.push_back({&k, std::move(copies)});
  }
  std::vector<Launch> launches;
};

/// A program's kernels that reduce, each with its trial.
class Bench {
 public:
  Bench(const Subject& s, const SensitivityOptions& o) : program_(lowering::lower(s.module, schedule(*o.target, 32, Contract::relaxed))) {
    backends::Session session(program_, o.target);
    for (auto kind : all_data) {
      Capture capture;
      session.run(make_data(s, kind, o.seed), {&capture, false});
      std::size_t number = 0;
      for (auto& l : capture.launches) {
        if (l.kernel->reductions.empty()) continue;
        if (kind == all_data[0]) suspects_.push_back({l.kernel, std::make_unique<Trial>(*l.kernel, l.inputs, o.target, o.seed)});
        suspects_[number++].trial->add_data(std::move(l.inputs));
      }
    }
  }
  struct Reducing { const kir::Kernel* kernel; std::unique_ptr<Trial> trial; };
  const std::vector<Reducing>& reducing() const { return suspects_; }

 private:
  std::shared_ptr<const lowering::Program> program_;
  std::vector<Reducing> suspects_;
};

void judge_fault(const Bench& bench, FaultKind kind, std::uint64_t number, std::uint64_t seed, SubjectResult& r) {
  const auto& all = bench.reducing();
  std::string why;
  for (std::size_t next = 0; next < all.size(); ++next) {
    const auto& [kernel, trial] = all[(number + next) % all.size()];
    const auto faulty = make_fault(*kernel, 0, kind, verify::random_word(seed, number));
    if (!faulty.kernel) {
      why = faulty.why_not;
      continue;
    }
    const Trial::Suspect suspect(*trial, *faulty.kernel);
    for (std::size_t d = 0; d < all_data.size(); ++d) {
      const auto ways = suspect.exact() | suspect.on_data(d);
      auto& c = r.faults[{kind, all_data[d]}];
      ++c.judged;
      c.rejected += ways.any();
      for (std::size_t w = 0; w < ways.size(); ++w) c.by[w] += ways[w];
      if (ways.none() && r.missed.size() < 8) r.missed.push_back(fmt::format("{} in {} ({}), {} data", name(kind), kernel->schedule, faulty.place, data_names[static_cast<std::size_t>(all_data[d])]));
    }
    return;
  }
  r.not_applicable[kind] = why;
}

void judge_faults(std::string_view op, DType t, std::int64_t k, const SensitivityOptions& o, SubjectResult& r) {
  const Clock clock(o.seconds / 2);
  const Bench whole(make_subject(op, t, k, false), o), tail(make_subject(op, t, k, true), o);
  for (std::uint64_t n = 0; n == 0 || (o.seconds > 0 ? !clock.over() : n < static_cast<std::uint64_t>(o.faults)); ++n)
    for (const auto& row : fault_rows)
      if (!r.not_applicable.count(row.kind)) judge_fault(row.kind == FaultKind::wrong_tail ? tail : whole, row.kind, n, o.seed * 16 + static_cast<std::uint64_t>(row.kind), r);
}

}  // namespace

void measure_sensitivity(const SensitivityOptions& options, const std::function<void(const SubjectResult&)>& done) {
  auto o = options;
  if (o.seconds > 0) o.seconds /= static_cast<double>(o.ops.size() * o.dtypes.size() * o.sizes.size());
  for (auto k : o.sizes)
    for (const auto& op : o.ops)
      for (auto t : o.dtypes) {
        SubjectResult r{op, t, k, {}, {}, {}, {}};
        check_right(make_subject(op, t, k, false), o, r.right);
        judge_faults(op, t, k, o, r);
        done(r);
      }
}

}  // namespace plumb::fuzz

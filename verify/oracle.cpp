#include "verify/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <cmath>
#include <numeric>


namespace plumb::verify {

using interp::Enclosed;
using interp::Number;

std::string show(DType t, Number v) {
  if (is_bool(t)) return v.u ? "true" : "false";
  if (!is_float(t)) return is_signed(t) ? fmt::format("{}", v.i) : fmt::format("{}", v.u);
  if (std::isnan(v.f)) return "NaN";
  return t == DType::f64 ? fmt::format("{}", v.f) : fmt::format("{}", static_cast<float>(v.f));
}
std::string show(DType t, const Enclosed& e) {
  auto part = [&](double f, std::int64_t i) { return show(t, is_float(t) ? Number{.f = f} : Number{.i = i}); };
  if (!is_float(t)) return e.ilo == e.ihi ? part(0, e.ilo) : fmt::format("[{}, {}]", part(0, e.ilo), part(0, e.ihi));
  if (!(e.lo <= e.hi)) return "NaN";
  const bool point = e.lo == e.hi && std::signbit(e.lo) == std::signbit(e.hi);
  return (point ? part(e.lo, 0) : fmt::format("[{}, {}]", part(e.lo, 0), part(e.hi, 0))) + (e.nan ? " or NaN" : "");
}
std::string show_index(std::int64_t place, const Extents& extents) {
  const auto i = delinearize(place, extents);
  return fmt::format("[{}]", fmt::join(i.begin(), i.end(), ","));
}

namespace {

/// Where in its enclosure an element sits, when the enclosure holds numbers enough for that to mean something.
double position(DType t, const Enclosed& allowed, double got) {
  const double half = allowed.hi / 2 - allowed.lo / 2, mid = allowed.lo / 2 + allowed.hi / 2;
  if (!std::isfinite(half) || !std::isfinite(got) || !(half >= 1.5 * interp::ulp(t, mid))) return 0;
  return std::min(1.0, std::fabs(got - mid) / half);
}

}  // namespace

void Tally::see(std::int64_t place, const Enclosed& expected, Number got) {
  ++elements_;
  const auto allowed = interp::stored(expected, dtype_);
  if (!interp::contains(allowed, dtype_, got)) {
    ++decided_;
    if (wrong_++ == 0) index_ = show_index(place, extents_), got_ = show(dtype_, got), allowed_ = show(dtype_, allowed);
    return;
  }
  if (interp::is_wide(expected, dtype_)) {
    ++inconclusive_;
    undecided_ += !is_float(dtype_);
    return;
  }
  ++decided_;
  if (!is_float(dtype_)) return;
  if (const double p = position(dtype_, allowed, got.f); p > worst_) worst_ = p, worst_place_ = place;
}

bool Tally::finish(Report& r, const std::string& name, Failure& f) const {
  r.elements += elements_;
  r.decided += decided_;
  r.inconclusive += inconclusive_;
  r.undecided += undecided_;
  if (worst_place_ >= 0 && worst_ > r.worst) r.worst = worst_, r.worst_at = name + " " + show_index(worst_place_, extents_);
  f.count = wrong_;
  f.index = index_;
  f.got = got_;
  f.allowed = allowed_;
  return wrong_ == 0;
}

std::uint64_t random_word(std::uint64_t seed, std::uint64_t number) {  // splitmix64
  std::uint64_t x = seed * 0xd1342543de82ef95u + (number + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::vector<std::int64_t> sample_places(std::int64_t elements, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> places;
  if (elements <= count) {
    for (std::int64_t k = 0; k < elements; ++k) places.push_back(k);
    return places;
  }
  if (count > 0) places.push_back(0);
  if (count > 1) places.push_back(elements - 1);
  for (std::int64_t k = 2; k < count; ++k) places.push_back(static_cast<std::int64_t>(random_word(seed, static_cast<std::uint64_t>(k)) % static_cast<std::uint64_t>(elements)));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

namespace {

interp::Declared declared_by(const kir::Kernel& k) {
  interp::Declared d;
  for (const auto& r : k.reductions) d.insert_or_assign(r.spec_node, interp::Accumulation(r.height, r.accumulator, r.truncates));
  return d;
}

std::vector<Enclosed> as_points(DType t, const std::vector<Number>& numbers) {
  std::vector<Enclosed> r;
  for (auto n : numbers) r.push_back(Enclosed::point(t, n));
  return r;
}

}  // namespace

std::vector<Enclosed> expected_everywhere(const kir::Kernel& k, std::span<const ir::Literal> inputs, const ContractTerms& terms) {
  ir::Module m;
  m.functions.push_back(*k.spec);
  m.functions.back().name = "main";
  if (!terms.strict()) return std::move(interp::evaluate_enclosure(m, inputs, {declared_by(k), terms.allow})[0].elements);
  const auto exact = interp::evaluate(m, inputs)[0];
  std::vector<Enclosed> r;
  for (std::int64_t i = 0; i < exact.elements(); ++i) r.push_back(Enclosed::point(exact.dtype(), interp::load(exact.dtype(), exact.raw(), i)));
  return r;
}

namespace {

std::vector<Enclosed> expected_at(const kir::Kernel& k, std::span<const ir::Literal> inputs, const ContractTerms& terms, const std::vector<std::int64_t>& places) {
  if (terms.strict()) return as_points(k.spec->type(k.spec->results[0]).dtype, interp::evaluate_at(*k.spec, inputs, 0, places));
  return interp::evaluate_enclosure_at(*k.spec, inputs, 0, places, {declared_by(k), terms.allow});
}

/// Dense evaluation meets errors of elements too that no element of the result needs; on demand only those count.
std::vector<Enclosed> expected_or_needed(const kir::Kernel& k, std::span<const ir::Literal> inputs, const ContractTerms& terms, std::int64_t count) {
  try {
    return expected_everywhere(k, inputs, terms);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::input) throw;
  }
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return expected_at(k, inputs, terms, all);
}

/// The verdict where evaluating the specification itself fails: a stated error that the kernel did not raise is wrong;
/// what has no bound is not decided.
bool judge_error(const Error& e, std::int64_t elements, const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& o, Report& r) {
  r.elements += elements;
  if (e.kind() != ErrorKind::input) {
    r.inconclusive += elements;
    r.notes.push_back("kernel " + k.name + " could not be judged: " + e.what());
    return true;
  }
  r.decided += elements;
  Failure f;
  f.check = "reference";
  f.count = elements;
  f.got = "a result";
  f.allowed = std::string("the error: ") + e.what();
  add_failure(std::move(f), k, ordinal, inputs, o, r);
  return false;
}

bool judge_places(const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& o, Report& report, const std::vector<std::int64_t>* places) {
  const ContractTerms terms{o.contract, o.allow};
  const std::int64_t count = places ? static_cast<std::int64_t>(places->size()) : output.elements();
  std::vector<Enclosed> expected;
  try {
    expected = places ? expected_at(k, inputs, terms, *places) : expected_or_needed(k, inputs, terms, count);
  } catch (const Error& e) {
    return judge_error(e, count, k, ordinal, inputs, o, report);
  }
  Tally tally(output.dtype(), output.extents());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = places ? (*places)[static_cast<std::size_t>(i)] : i;
    tally.see(place, expected[static_cast<std::size_t>(i)], interp::load(output.dtype(), output.raw(), place));
  }
  Failure f;
  f.check = terms.strict() ? "reference" : "enclosure";
  if (tally.finish(report, k.name, f)) return true;
  add_failure(std::move(f), k, ordinal, inputs, o, report);
  return false;
}

}  // namespace

bool judge(const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& o, Report& report) {
  return judge_places(k, ordinal, inputs, output, o, report, nullptr);
}

bool judge_sample(const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const ir::Literal& output, const CheckOptions& o, Report& report) {
  const auto places = sample_places(output.elements(), o.sample_elements, random_word(o.seed, static_cast<std::uint64_t>(ordinal)));
  return judge_places(k, ordinal, inputs, output, o, report, &places);
}

}  // namespace plumb::verify

// One kernel on small integers, and in the exact number systems.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/scalar/storage.h"
#include "interpreter/tensor/demand.h"
#include "verify/launch.h"
#include "verify/number_systems.h"
#include "verify/oracle.h"
#include "verify/retype.h"

namespace plumb::verify {
namespace {

using ir::Literal;

Literal launch(const kir::Kernel& k, std::span<const Literal> inputs, DType out, backends::Backend& backend) {
  return Launcher(k, backend).run(inputs, {out, k.spec->type(k.spec->results[0]).shape});
}

/// Integers from -3 to 3 for floats: sums of products stay exact, so enclosures are points.
std::vector<Literal> small_integers(std::span<const Literal> inputs, std::uint64_t seed) {
  std::vector<Literal> r;
  std::uint64_t number = 0;
  for (const auto& l : inputs) {
    if (!is_float(l.dtype())) {
      r.push_back(l);
      continue;
    }
    Literal s(l.type());
    for (std::int64_t i = 0; i < l.elements(); ++i) store_element(s.dtype(), s.mutable_raw(), i, static_cast<double>(random_word(seed, number++) % 7) - 3);
    r.push_back(std::move(s));
  }
  return r;
}

/// Words for floats: random ones, random residues, or one bit for each of 64 elements of all inputs together, `first` the first marked.
std::vector<Literal> words(std::span<const Literal> inputs, System system, std::uint64_t seed, std::span<const std::int64_t> marked) {
  std::vector<Literal> r;
  std::int64_t number = 0;
  for (const auto& l : inputs) {
    if (!is_float(l.dtype())) {
      r.push_back(l);
      continue;
    }
    Literal w(ir::Type{DType::u64, l.type().shape});
    auto* to = w.mutable_data<std::uint64_t>();
    for (std::int64_t i = 0; i < l.elements(); ++i, ++number) {
      to[i] = 0;
      if (system != System::provenance) {
        to[i] = random_word(seed, static_cast<std::uint64_t>(number));
        if (system == System::prime) to[i] %= prime_modulus;
      } else if (const auto at = std::lower_bound(marked.begin(), marked.end(), number); at != marked.end() && *at == number) {
        to[i] = std::uint64_t{1} << (at - marked.begin());
      }
    }
    r.push_back(std::move(w));
  }
  return r;
}

std::int64_t float_elements(std::span<const Literal> inputs) {
  std::int64_t n = 0;
  for (const auto& l : inputs) n += is_float(l.dtype()) ? l.elements() : 0;
  return n;
}

/// "elements 3 of %x0, …": what the bits of a provenance word stand for.
std::string show_marks(std::uint64_t bits, std::span<const std::int64_t> marked, std::span<const Literal> inputs, const ir::Function& spec) {
  std::string s;
  int shown = 0;
  for (std::size_t b = 0; b < marked.size() && shown < 4; ++b) {
    if (!(bits >> b & 1)) continue;
    std::int64_t at = marked[b];
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!is_float(spec.type(spec.params[k]).dtype)) continue;
      if (at < inputs[k].elements()) {
        s += (s.empty() ? "%" : ", %") + spec.value(spec.params[k]).name + show_index(at, inputs[k].extents());
        ++shown;
        break;
      }
      at -= inputs[k].elements();
    }
  }
  return s.empty() ? "none of the marked elements" : s + (std::popcount(bits) > shown ? ", …" : "");
}

struct Exchange {
  const kir::Kernel& kernel;
  const kir::Kernel& retyped;
  System system;
  int ordinal;
  std::span<const Literal> real;     ///< for the reproducer
  const CheckOptions& options;
  Report& report;

  /// One run; true when it agreed.
  bool run(std::uint64_t seed, std::span<const std::int64_t> marked) const {
    const auto& spec = *kernel.spec;
    const auto result = spec.results[0];
    const DType t = spec.type(result).dtype;
    const auto inputs = words(real, system, seed, marked);
    const Exchanged domain{system};
    interp::Demand<Exchanged> demand(domain, spec, inputs);
    const auto places = sample_places(spec.type(result).elements(), std::max<std::int64_t>(1, options.exact_steps / demand.fan_out()), seed);
    const auto expected = demand.at(result, places);
    const Literal got = launch(retyped, inputs, exchanged(t), *options.backend);
    Failure f;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto g = interp::load(got.dtype(), got.raw(), places[k]);
      if (g.u == expected[k].u || f.count++ > 0) continue;
      f.index = show_index(places[k], got.extents());
      const bool marks = system == System::provenance && is_float(t);
      f.got = marks ? "reached by " + show_marks(g.u & ~expected[k].u, marked, inputs, spec) : fmt::format("{:#x}", g.u);
      f.allowed = marks ? "to be reached by " + show_marks(expected[k].u & ~g.u, marked, inputs, spec) : fmt::format("{:#x}", expected[k].u);
    }
    const auto seen = static_cast<std::int64_t>(places.size());
    report.elements += seen;
    report.decided += seen;
    report.exact_elements += seen;
    if (f.count == 0) return true;
    f.check = name(system);
    add_failure(std::move(f), kernel, ordinal, real, options, report);
    return false;
  }

  void all() const {
    if (system != System::provenance) {
      run(options.seed + 1, {});
      return;
    }
    const std::int64_t n = float_elements(real);
    for (std::uint64_t round = 0; round < 4; ++round)
      if (const auto marked = sample_places(n, 64, random_word(options.seed, 77 + round)); marked.empty() || !run(options.seed, marked) || n <= 64) return;
  }
};

void check_small(const kir::Kernel& k, int ordinal, std::span<const Literal> inputs, const CheckOptions& o, Report& report) {
  const auto small = small_integers(inputs, o.seed + 3);
  const auto got = launch(k, small, k.spec->type(k.spec->results[0]).dtype, *o.backend);
  Report part;
  judge(k, ordinal, small, got, o, part);
  for (auto& f : part.failures) f.check = "small integers";
  report.exact_elements += part.elements;
  report.add(part);
}

}  // namespace

void check_exact(const kir::Kernel& k, int ordinal, std::span<const Literal> inputs, const CheckOptions& o, Report& report) {
  if (!o.backend) {
    report.notes.push_back("kernel " + k.name + ": the exact number systems need the target's backend, and none was given");
    return;
  }
  if (std::none_of(k.scalars.begin(), k.scalars.end(), [](DType t) { return is_float(t); })) return;  // integers are exact already
  auto guarded = [&](const char* what, auto f) {
    try {
      f();
    } catch (const kir::ViolationError& e) {
      add_violation(e.violation(), what, k, ordinal, inputs, o, report);
    } catch (const Error& e) {  // other data may reach an operation's own error, or a case without a bound
      report.notes.push_back(fmt::format("kernel {} was not run on {}: {}", k.name, what, e.what()));
    }
  };
  ++report.exact_kernels;
  guarded("small integers", [&] { check_small(k, ordinal, inputs, o, report); });
  for (auto system : all_systems) {
    const auto retyped = retype(k, system);
    if (!retyped.kernel) {
      report.notes.push_back(fmt::format("kernel {} was not run on {}: {}", k.name, name(system), retyped.why_not));
      continue;
    }
    guarded(name(system), [&] { Exchange{k, *retyped.kernel, system, ordinal, inputs, o, report}.all(); });
  }
}

}  // namespace plumb::verify

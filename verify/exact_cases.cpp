// Inputs for the exact ways of looking at a kernel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "interpreter/tensor/demand.h"
#include "ir/scalar/storage.h"
#include "verify/exact.h"
#include "verify/oracle.h"

namespace plumb::verify {

using ir::Literal;

std::int64_t float_elements(std::span<const Literal> inputs) {
  std::int64_t n = 0;
  for (const auto& l : inputs) n += is_float(l.dtype()) ? l.elements() : 0;
  return n;
}

FloatCase small_integers(const kir::Kernel& k, std::span<const Literal> real, std::uint64_t seed, const ContractTerms& terms) {
  FloatCase c{"small integers", {}, {}};
  std::uint64_t number = 0;
  for (const auto& l : real) {
    if (!is_float(l.dtype())) {
      c.inputs.push_back(l);
      continue;
    }
    Literal s(l.type());
    for (std::int64_t i = 0; i < l.elements(); ++i) store_element(s.dtype(), s.mutable_raw(), i, static_cast<double>(random_word(seed, number++) % 7) - 3);
    c.inputs.push_back(std::move(s));
  }
  c.expected = expected_everywhere(k, c.inputs, terms);
  return c;
}

namespace {

/// The parameter that a value is, seen through conversions; -1: none.
int parameter_of(const ir::Function& f, ir::ValueId v) {
  while (f.value(v).node >= 0) {
    const auto& n = f.nodes[static_cast<std::size_t>(f.value(v).node)];
    if (ir::row(n.op).op_class != ir::OpClass::convert) return -1;
    v = n.operands[0];
  }
  const auto at = std::find(f.params.begin(), f.params.end(), v);
  return at == f.params.end() ? -1 : static_cast<int>(at - f.params.begin());
}

/// Values for `count` terms: magnitudes m·2^e, as spread as the format and the accumulator's significand allow; those of the
/// second half are those of the first, in another order and negative. One pair is left with a small power of two, which is
/// then the sum: partial sums that were cut to a coarser grid do not come to it.
std::vector<double> cancelling(DType t, std::int64_t count, std::uint64_t seed) {
  const auto& r = row(t);
  const int room = std::min(row(accumulator(t)).precision - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count))), r.emax - (r.emin - r.precision + 1));
  if (room < 1) return {};
  const int digits = std::min(r.precision, room), spread = room - digits, shift = std::min(0, r.emax - room);
  std::vector<double> values(static_cast<std::size_t>(count), 0);
  const auto half = static_cast<std::size_t>(count / 2);
  std::vector<std::size_t> order(half);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = half; i > 1; --i) std::swap(order[i - 1], order[random_word(seed + 1, i) % i]);
  for (std::size_t i = 0; i < half; ++i) {
    const auto word = random_word(seed, i);
    const double m = 1 + static_cast<double>(word % ((std::uint64_t{1} << digits) - 1));
    values[i] = std::ldexp(m, shift + static_cast<int>((word >> 40) % static_cast<std::uint64_t>(spread + 1)));
  }
  for (std::size_t i = 0; i < half; ++i) values[half + i] = -values[order[i]];
  if (half == 0) return values;
  const int left = shift + static_cast<int>(random_word(seed, half) % static_cast<std::uint64_t>(room / 2 + 1));
  const auto i = random_word(seed + 2, half) % half;
  values[order[i]] = std::ldexp(2.0, left), values[half + i] = -std::ldexp(1.0, left);
  return values;
}

}  // namespace

std::optional<FloatCase> cancelling_integers(const kir::Kernel& k, std::span<const Literal> real, std::uint64_t seed, const ContractTerms& terms) {
  const auto& f = *k.spec;
  const auto sums = std::find_if(f.nodes.begin(), f.nodes.end(), [](const ir::Node& n) {
    const auto& r = ir::row(n.op);
    return r.op_class == ir::OpClass::contract || (r.op_class == ir::OpClass::reduce && r.fn == fn_id<scalar::Add>);
  });
  if (sums == f.nodes.end()) return std::nullopt;
  const bool product = ir::row(sums->op).op_class == ir::OpClass::contract;
  const int summed = parameter_of(f, sums->operands[product ? 1 : 0]), factor = product ? parameter_of(f, sums->operands[0]) : -1;
  if (summed < 0 || summed == factor || (product && factor < 0) || !is_float(real[static_cast<std::size_t>(summed)].dtype())) return std::nullopt;
  const interp::Terms sum(f, *sums);
  const DType t = f.type(sums->operands[0]).dtype;
  if (cancelling(t, sum.count(), seed).empty()) return std::nullopt;
  FloatCase c{"cancelling integers", {}, {}};
  for (const auto& l : real) {
    c.inputs.push_back(is_float(l.dtype()) ? Literal(l.type()) : l);
    if (is_float(l.dtype()))
      for (std::int64_t i = 0; i < l.elements(); ++i) store_element(l.dtype(), c.inputs.back().mutable_raw(), i, 1);
  }
  auto& x = c.inputs[static_cast<std::size_t>(summed)];
  interp::TermPlaces places;
  for (std::int64_t out = 0; out < f.type(sums->results[0]).elements(); ++out) {
    places.a.clear(), places.b.clear();
    sum.of(out, places);
    const auto& at = product ? places.b : places.a;
    const auto values = cancelling(t, sum.count(), seed + static_cast<std::uint64_t>(out));
    for (std::size_t i = 0; i < at.size(); ++i)
      if (at[i] >= 0) store_element(x.dtype(), x.mutable_raw(), at[i], values[i]);
  }
  c.expected = expected_everywhere(k, c.inputs, terms);
  return c;
}

std::vector<Literal> words_in(std::span<const Literal> real, System system, std::uint64_t seed, std::int64_t first, std::int64_t last, std::span<const std::int64_t> left_out) {
  std::vector<Literal> r;
  std::int64_t number = 0;
  for (const auto& l : real) {
    if (!is_float(l.dtype())) {
      r.push_back(l);
      continue;
    }
    Literal w(ir::Type{DType::u64, l.type().shape});
    auto* to = w.mutable_data<std::uint64_t>();
    for (std::int64_t i = 0; i < l.elements(); ++i, ++number) {
      to[i] = number < first || number >= last ? 0 : random_word(seed, static_cast<std::uint64_t>(number));
      if (system == System::prime) to[i] %= prime_modulus;
      if (!left_out.empty() && std::find(left_out.begin(), left_out.end(), number) != left_out.end()) to[i] = 0;
    }
    r.push_back(std::move(w));
  }
  return r;
}

WordCase word_case(const kir::Kernel& k, std::span<const Literal> real, System system, std::uint64_t seed, std::int64_t steps) {
  const auto& spec = *k.spec;
  WordCase c{system, seed, words_in(real, system, seed, 0, float_elements(real), {}), {}, {}, system == System::prime && is_float(spec.type(spec.results[0]).dtype)};
  const auto result = spec.results[0];
  const Exchanged domain{system};
  interp::Demand<Exchanged> demand(domain, spec, c.inputs);
  c.places = sample_places(spec.type(result).elements(), std::max<std::int64_t>(1, steps / demand.fan_out()), seed);
  c.expected = demand.at(result, c.places);
  return c;
}

std::vector<std::size_t> differences(const WordCase& c, const Literal& got) {
  std::vector<std::size_t> r;
  for (std::size_t k = 0; k < c.places.size(); ++k) {
    const auto g = interp::load(got.dtype(), got.raw(), c.places[k]).u;
    if ((c.residues ? g % prime_modulus : g) != c.expected[k].u) r.push_back(k);
  }
  return r;
}

bool may_repeat_terms(const ir::Function& f) {
  return std::any_of(f.nodes.begin(), f.nodes.end(), [&](const ir::Node& n) {
    const auto& r = ir::row(n.op);
    return (r.op_class == ir::OpClass::reduce || r.op_class == ir::OpClass::window || r.op_class == ir::OpClass::scan || r.op_class == ir::OpClass::scatter) && r.fn != fn_id<scalar::Add> && r.fn != fn_id<scalar::Mul> && is_float(f.type(n.operands[0]).dtype);
  });
}

Search miscount(const kir::Kernel& k, const Literal& got_of_nothing, std::span<const Literal> real, std::int64_t place, const std::function<Literal(std::span<const Literal>)>& run) {
  const auto& spec = *k.spec;
  const Exchanged domain{System::provenance};
  const auto at = [&](std::span<const Literal> inputs) {
    interp::Demand<Exchanged> demand(domain, spec, inputs);
    const auto expected = demand.at(spec.results[0], {place})[0].u;
    const auto got = run(inputs);
    return std::pair(interp::load(got.dtype(), got.raw(), place).u, expected);
  };
  if (interp::load(got_of_nothing.dtype(), got_of_nothing.raw(), place).u != 0) return {};  // it differs without any input: never written, say
  const std::int64_t n = float_elements(real);
  const bool repeats = may_repeat_terms(spec);
  std::vector<std::int64_t> left_out;
  for (std::uint64_t seed = 1; left_out.size() < 64; ++seed) {
    const auto differs = [&](std::int64_t first, std::int64_t last) {
      const auto [got, expected] = at(words_in(real, System::provenance, seed, first, last, left_out));
      return got != expected;
    };
    std::int64_t first = 0, last = n;
    if (!differs(first, last)) return {std::nullopt, Search::harmless};
    while (last - first > 1) {  // from either end in turn: repeated terms may stand together, before or after missing ones
      const auto middle = first + (last - first) / 2;
      const bool here = seed % 2 ? differs(middle, last) : differs(first, middle);
      if (here == (seed % 2 == 0)) last = middle;
      else first = middle;
    }
    auto one = words_in(real, System::provenance, seed, 0, 0, {});
    std::int64_t before = 0;
    for (auto& l : one) {
      if (!is_float(real[static_cast<std::size_t>(&l - one.data())].dtype())) continue;
      if (first >= before && first < before + l.elements()) l.mutable_data<std::uint64_t>()[first - before] = 1;
      before += l.elements();
    }
    const auto [got, expected] = at(one);
    if (!repeats || (got == 0) != (expected == 0) || got == expected) return {Miscount{first, got, expected}, Search::wrong};
    left_out.push_back(first);
  }
  return {std::nullopt, Search::undecided};
}

}  // namespace plumb::verify

#include "verify/number_systems.h"

#include <bit>
#include <cmath>

namespace plumb::verify {

using interp::Number;

namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

bool is_comparison(FnId fn) { return plumb::row(fn).gives == Gives::boolean && plumb::row(fn).arity == 2; }

std::uint64_t hash(FnId fn, std::span<const Number> a) {
  const auto w = hash_words(fn);
  std::uint64_t x = a.size() == 1 ? a[0].u : a[0].u * w.left + a[1].u * w.right;
  x = (x ^ w.key) * w.first;
  x = (x ^ (x >> 32)) * w.second;
  return x ^ (x >> 29);
}

std::uint64_t residue(std::int64_t v) {
  const std::int64_t r = v % static_cast<std::int64_t>(prime_modulus);
  return static_cast<std::uint64_t>(r < 0 ? r + static_cast<std::int64_t>(prime_modulus) : r);
}

/// A kept function of residues, in words: none of these wraps.
std::uint64_t of_residues(FnId fn, std::span<const Number> a) {
  using namespace scalar;
  switch (fn) {
    case fn_id<Sub>: return a[0].u + (prime_modulus - a[1].u);
    case fn_id<Neg>: return prime_modulus - a[0].u;
    default: return interp::apply(fn, DType::u64, a).u;
  }
}

}  // namespace

std::uint64_t exchanged_constant(System s, double v) {
  if (s == System::provenance || s == System::heights) return 0;
  const bool prime = s == System::prime;
  if (std::isnan(v)) return 0x7ff8;
  if (std::isinf(v)) return v < 0 ? 0 : prime ? prime_modulus - 1 : ~std::uint64_t{0};
  if (v == std::trunc(v) && std::fabs(v) < 0x1p53) return prime ? residue(static_cast<std::int64_t>(v)) : static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
  const auto x = mix(std::bit_cast<std::uint64_t>(v));
  return prime ? x % prime_modulus : x;
}

bool ring_keeps(FnId fn) {
  using namespace scalar;
  for (auto kept : {fn_id<Add>, fn_id<Sub>, fn_id<Mul>, fn_id<Fma>, fn_id<Neg>, fn_id<Minimum>, fn_id<Maximum>})
    if (fn == kept) return true;
  return is_comparison(fn);
}

bool needs_remainder(FnId fn) {
  using namespace scalar;
  return !is_comparison(fn) && fn != fn_id<Minimum> && fn != fn_id<Maximum>;
}

std::optional<bool> fixed_predicate(FnId fn) {
  using namespace scalar;
  if (fn == fn_id<IsNan> || fn == fn_id<IsInf> || fn == fn_id<SignBit>) return false;
  if (fn == fn_id<IsFinite>) return true;
  return std::nullopt;
}

HashWords hash_words(FnId fn) { return {mix(fn + 1u), 0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u, 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u}; }

Number Exchanged::apply(FnId fn, DType t, std::span<const Number> args) const {
  if (!is_float(t)) return interp::apply(fn, t, args);
  if (const auto fixed = fixed_predicate(fn)) return {.u = *fixed};
  if (is_comparison(fn)) return interp::apply(fn, DType::u64, args);
  if (system == System::ring) return ring_keeps(fn) ? interp::apply(fn, DType::u64, args) : Number{.u = hash(fn, args)};
  if (system == System::prime) return {.u = (ring_keeps(fn) ? of_residues(fn, args) : hash(fn, args)) % prime_modulus};
  std::uint64_t all = 0;
  for (auto a : args) all += a.u;
  return {.u = all};
}

Number Exchanged::convert(Number v, DType from, DType to) const {
  if (is_float(from) && is_float(to)) return v;
  if (system == System::provenance && is_float(to)) return {.u = 0};
  if (system == System::prime && is_float(to)) return {.u = is_signed(from) ? residue(v.i) : v.u % prime_modulus};
  return interp::convert(v, exchanged(from), exchanged(to));
}

Number Exchanged::reduce(FnId fn, DType t, std::vector<Number> terms, const interp::Accumulation&) const {
  if (terms.empty()) return from(t, interp::reduction_identity(fn, t));
  Number r = terms[0];
  for (std::size_t k = 1; k < terms.size(); ++k) {
    const Number p[] = {r, terms[k]};
    r = apply(fn, t, p);
  }
  return r;
}

void Exchanged::scan(FnId fn, DType t, std::vector<Number>& x, bool exclusive) const {
  Number before = from(t, interp::reduction_identity(fn, t));
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Number p[] = {before, x[k]}, next = k == 0 ? x[k] : apply(fn, t, p);
    x[k] = exclusive ? before : next;
    before = next;
  }
}

Number dot_of(const Exchanged& d, DType t, std::span<const Number> a, std::span<const Number> b, const interp::Accumulation&) {
  std::uint64_t sum = 0;
  if (is_float(t) && d.system != System::provenance) {
    for (std::size_t k = 0; k < a.size(); ++k) {
      sum += a[k].u * b[k].u;
      if (d.system == System::prime) sum %= prime_modulus;
    }
    return {.u = sum};
  }
  if (is_float(t)) {
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k].u + b[k].u;
    return {.u = sum};
  }
  Number r = interp::number(t, 0);
  for (std::size_t k = 0; k < a.size(); ++k) {
    const Number p[] = {a[k], b[k], r};
    r = interp::apply(fn_id<scalar::Fma>, t, p);
  }
  return r;
}

}  // namespace plumb::verify

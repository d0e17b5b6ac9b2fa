// Exact number systems: what a program of floats computes when its floats are exchanged for exact things.
//
// A lowered kernel with its floats exchanged (retype.h) must give exactly what its specification gives in the same
// system, evaluated here: no order of combining, no precision and no fusion makes a difference, so any difference is a
// fault of structure: an index, a mask, a missed or doubled term, a race, a missed write. Integers and bools stay what
// they are.
//
//  Ring         integers modulo 2^64. Sums and products are the ring's; minimum, maximum and comparisons are those of
//               unsigned integers (a lattice: any order agrees); every other function of floats, division among them, is
//               a fixed hash of its arguments. A constant that is an integer is itself; another is a hash of its value;
//               -inf and +inf are the ends of the lattice, so that they stay the identities of maximum and minimum.
//               These are the machine's own words: combining steps and fused steps of the kernel stay single operations,
//               so the very structure that is shipped gets run, at full speed. A wrong sum of products of random words
//               passes with a chance near 2^-60. What it cannot see is what a power of two multiplies away: half of all
//               words are even, so a product of n of them is a multiple of about 2^n, and one of a hundred is plain 0.
//  Prime        the same modulo the prime 2^31 - 1: residues in u64, in which a product and a residue fit, each result
//               brought back by an unsigned remainder; a hash is reduced too, and +inf is the greatest residue. No
//               product of residues is 0 unless a factor is, and a polynomial of degree d that is not zero vanishes on
//               random residues with a chance of at most d / 2^31: so products of any length, powers and the
//               derivatives of products are told apart. What it costs is structure: a combining step becomes a load,
//               the function, a remainder and a store.
//  Provenance   integers modulo 2^64 in which every function gives the sum of its arguments, maximum
//               included: with random words for inputs the result says how often each element reached it, all at once.
//               Where it differs, halving the inputs finds an element that came too often or not at all. A minimum or
//               maximum that meets a term twice is right: there only elements that are missing, or do not belong, count.
#pragma once
#include "interpreter/tensor/dense.h"

namespace plumb::verify {

enum class System : std::uint8_t { ring, prime, provenance, heights /* of kernels alone: retype.h */ };
inline constexpr System all_systems[] = {System::ring, System::prime, System::provenance};
constexpr const char* name(System s) { return s == System::ring ? "integers modulo 2^64" : s == System::prime ? "integers modulo a prime" : s == System::provenance ? "provenance" : "heights"; }
inline constexpr std::uint64_t prime_modulus = (std::uint64_t{1} << 31) - 1;

/// The dtype that stands in for a dtype.
constexpr DType exchanged(DType t) { return is_float(t) ? DType::u64 : t; }
/// The word that stands for a float constant.
std::uint64_t exchanged_constant(System s, double value);
/// The functions that both rings keep; others are hashed.
bool ring_keeps(FnId fn);
/// Of those, the ones whose result may leave the residues of the prime: all but minimum, maximum and comparisons.
bool needs_remainder(FnId fn);
/// Floats' own tests: no word is NaN, infinite or negative. nullopt for other functions.
std::optional<bool> fixed_predicate(FnId fn);
/// The hash that stands for a function: h(fn, x) and h(fn, x, y), built from xor, multiply and shift.
struct HashWords { std::uint64_t key, first, second, left, right; };
HashWords hash_words(FnId fn);

/// A system as a value domain: words for floats, integers and bools as they are.
struct Exchanged {
  using Value = interp::Number;
  System system;

  Value from(DType t, Value v) const { return is_float(t) ? Value{.u = exchanged_constant(system, v.f)} : v; }
  Value apply(FnId fn, DType t, std::span<const Value> args) const;
  Value convert(Value v, DType from, DType to) const;
  /// Of integers alone: a kernel that reads a float's bits is not exchanged.
  Value bitcast(Value v, DType from, DType to) const { return is_float(from) || is_float(to) ? v : interp::bitcast(v, from, to); }
  Value select(Value c, Value a, Value b, DType) const { return c.u ? a : b; }
  bool decided(Value, DType) const { return true; }
  interp::Number pick(Value v) const { return v; }
  Value reduce(FnId fn, DType t, std::vector<Value> terms, const interp::Accumulation& how) const;
  Value fold(FnId fn, DType t, const std::vector<Value>& terms) const { return reduce(fn, t, terms, 0); }
  void scan(FnId fn, DType t, std::vector<Value>& x, bool exclusive) const;
};
interp::Number dot_of(const Exchanged& d, DType t, std::span<const interp::Number> a, std::span<const interp::Number> b, const interp::Accumulation& how);
inline interp::Number extremum_place(const Exchanged&, std::span<const interp::Number> x, DType t, bool greatest) { return {.i = interp::arg_extremum(x, exchanged(t), greatest)}; }
inline std::vector<std::int64_t> line_order(const Exchanged&, std::span<const interp::Number> x, DType t, bool descending) { return interp::stable_order(x, exchanged(t), descending); }

}  // namespace plumb::verify

// The numeric contract that a function is compiled under.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace plumb {

/// strict: the reference answer, bit for bit. relaxed: any value in the enclosure. fast: relaxed, plus named allowances.
enum class Contract : std::uint8_t { strict, relaxed, fast };

constexpr std::string_view name(Contract c) { return c == Contract::strict ? "strict" : c == Contract::relaxed ? "relaxed" : "fast"; }
constexpr std::optional<Contract> contract_from_name(std::string_view s) {
  for (auto c : {Contract::strict, Contract::relaxed, Contract::fast})
    if (name(c) == s) return c;
  return std::nullopt;
}

/// What a caller may grant on top of relaxed, one by one; the contract is then fast. Each widens the enclosure by an amount of
/// its own (interpreter/domains/allowances.h).
struct Allowances {
  bool tf32 = false;         ///< factors of f32 contractions with 11 significant bits, sums cut toward zero
  bool ftz = false;          ///< subnormal numbers of f32 may be zeros
  bool approximate = false;  ///< elementary functions with few right digits
  constexpr bool any() const { return tf32 || ftz || approximate; }
};
struct AllowanceRow { std::string_view name; bool Allowances::*granted; };
inline constexpr AllowanceRow allowance_rows[] = {{"tf32", &Allowances::tf32}, {"ftz", &Allowances::ftz}, {"approximate", &Allowances::approximate}};
/// A contract and what is granted on top of it; allowances go with fast alone.
struct ContractTerms {
  Contract contract = Contract::relaxed;
  Allowances allow = {};
  ContractTerms() = default;
  ContractTerms(Contract c, Allowances a = {}) : contract(c), allow(a) {}  // NOLINT: a contract alone is the usual case
  bool strict() const { return contract == Contract::strict; }
};
/// Grants the one of that name; false when there is none.
constexpr bool grant(Allowances& a, std::string_view word) {
  for (const auto& r : allowance_rows)
    if (r.name == word) return a.*r.granted = true;
  return false;
}

}  // namespace plumb

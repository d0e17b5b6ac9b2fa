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

}  // namespace plumb

// Randomness that is the same on every machine.
#pragma once
#include <cstdint>
#include <string>

namespace plumb::tools {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
inline std::uint64_t text_hash(const std::string& s) {
  std::uint64_t h = 0;
  for (char c : s) h = mix(h ^ static_cast<unsigned char>(c));
  return h;
}

}  // namespace plumb::tools

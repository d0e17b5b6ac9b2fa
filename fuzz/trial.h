// Whether, and in which of its ways, the oracle rejects a kernel. What the specification gives is computed once for a right
// kernel; then any number of kernels that claim to do the same are judged against it.
#pragma once
#include <array>
#include <bitset>
#include <memory>
#include <string_view>
#include <vector>

#include "verify/exact.h"
#include "verify/launch.h"

namespace plumb::fuzz {

enum class Way : std::uint8_t { enclosure, small_integers, cancelling_integers, ring, prime, provenance, declaration, target };
inline constexpr std::array<std::string_view, 8> way_names{"enclosure", "small_integers", "cancelling_integers", "ring", "prime", "provenance", "declaration", "target"};
using Ways = std::bitset<way_names.size()>;

class Trial {
 public:
  /// `inputs`: what the kernel gets in some run; shapes and integers are taken from there.
  Trial(const kir::Kernel& right, std::span<const ir::Literal> inputs, std::shared_ptr<backends::Backend> target, std::uint64_t seed);
  /// Another set of inputs for the enclosure; gives its number.
  std::size_t add_data(std::vector<ir::Literal> inputs);

  /// One kernel under judgement, compiled once.
  class Suspect {
   public:
    Suspect(const Trial& trial, const kir::Kernel& kernel);
    /// In the ways that bring their own inputs; `target` where the target saw a violation.
    Ways exact() const { return exact_; }
    /// On data set number `data`.
    Ways on_data(std::size_t data) const;

   private:
    Ways words(const kir::Kernel& kernel) const;
    Ways integers() const;
    Ways declared(const kir::Kernel& kernel) const;
    const Trial& trial_;
    std::unique_ptr<verify::Launcher> launcher_;
    Ways exact_;
  };

 private:
  struct Data {
    std::vector<ir::Literal> inputs;
    std::vector<interp::Enclosed> expected;
  };
  bool legal(const ir::Literal& got, const std::vector<interp::Enclosed>& expected) const;

  const kir::Kernel& right_;
  std::shared_ptr<backends::Backend> target_;
  ir::Type result_;
  std::vector<ir::Literal> real_;
  std::vector<verify::FloatCase> integers_;
  std::vector<verify::WordCase> words_;
  std::vector<Data> data_;
};

}  // namespace plumb::fuzz

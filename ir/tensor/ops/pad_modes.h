// Padding by x itself, and patches of images as columns.
#pragma once
#include "ir/tensor/ops/words.h"

namespace plumb::ir::ops {

enum class Beyond : std::uint8_t { reflection, replication, circular };
/// Where position k of an axis of n elements continued beyond its ends lies in it.
inline std::int64_t continued(Beyond mode, std::int64_t k, std::int64_t n) {
  if (mode == Beyond::replication) return std::clamp<std::int64_t>(k, 0, n - 1);
  const auto period = mode == Beyond::circular ? n : std::max<std::int64_t>(2 * (n - 1), 1);
  const auto m = (k % period + period) % period;
  return m < n ? m : period - m;
}

template <Beyond mode> struct PadMode {
  static constexpr bool complex = true;
  static constexpr OpRow row{mode == Beyond::reflection ? "reflection_pad" : mode == Beyond::replication ? "replication_pad" : "circular_pad", "x", OpClass::composite,
      mode == Beyond::reflection ? "low and high elements around each axis: x mirrored at its first and last elements, which are not repeated, as often as it takes; negative entries crop."
      : mode == Beyond::replication ? "low and high elements around each axis: the first or last element; negative entries crop." : "low and high elements around each axis: x laid end to end; negative entries crop."};
  static constexpr std::string_view equation = mode == Beyond::reflection ? "out[i] = x[j], j = (i - low) mod 2 (n - 1), or 2 (n - 1) - j where that is n or more" : mode == Beyond::replication ? "out[i] = x[clip(i - low, 0, n - 1)]" : "out[i] = x[(i - low) mod n]";
  static constexpr std::array attrs{AttrSpec{"low", AttrKind::ints}, AttrSpec{"high", AttrKind::ints}};
  static constexpr std::array constraints{Constraint{"C1", "low and high have an entry an axis, each at most 2^22 in magnitude."}, Constraint{"C2", "an axis that is padded is not empty, and none gets a negative size."}};
  static constexpr std::array edges{mode == Beyond::reflection ? Edge{"E1", "3 elements, low = 5", "mirrored again and again", "NumPy the same; PyTorch rejects a padding that is not below the size"}
                                    : Edge{"E1", "low beyond the size", mode == Beyond::replication ? "the first element each time" : "x again and again", mode == Beyond::replication ? "the same: PyTorch, NumPy" : "NumPy the same; PyTorch rejects it"},
                                    Edge{"E2", "low = -1", "the first element leaves", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto &low = a.ints("low"), &high = a.ints("high");
    Type t = in[0];
    if (low.size() != t.rank() || high.size() != t.rank()) return no("C1: low and high need an entry an axis (rank " + std::to_string(t.rank()) + ")");
    for (std::size_t d = 0; d < t.rank(); ++d) {
      for (auto v : {low[d], high[d]})
        if (v < -(1 << 22) || v > (1 << 22)) return no("C1: an entry of " + std::to_string(v));
      const auto size = t.shape[d].size(), all = size + low[d] + high[d];
      if (all < 0 || (size == 0 && all > 0)) return no("C2: axis " + std::to_string(d) + " of " + t.str() + " cannot have " + std::to_string(all) + " elements");
      t.shape[d] = all;
    }
    return one(t);
  }
  static Out decompose(Builder& b, In in, const AttrMap& a) {
    const Words w{b};
    auto x = in[0];
    for (std::size_t d = 0; d < w.rank(x); ++d) {
      const auto n = w.size(x, d), low = a.ints("low")[d], high = a.ints("high")[d];
      if (low == 0 && high == 0) continue;
      if (low <= 0 && high <= 0) {
        x = w.slice(x, d, -low, n + high);
        continue;
      }
      Ints at;
      for (auto k = -low; k < n + high; ++k) at.push_back(continued(mode, k, n));
      x = w.pick(x, d, at);
    }
    return {x};
  }
};

/// The patches that a window cuts from an image, and how many there are along each axis.
struct Patches {
  std::int64_t kernel[2], stride[2], dilation[2], padding[2], out[2];
  std::int64_t count() const { return out[0] * out[1]; }
};
inline std::variant<Patches, std::string> patches_of(std::span<const std::int64_t> sizes, const AttrMap& a) {
  Patches p{};
  for (std::size_t d = 0; d < 2; ++d) {
    for (const auto& [name, to, least, fallback] : {std::tuple{"kernel", p.kernel, 1, 1}, {"stride", p.stride, 1, 1}, {"dilation", p.dilation, 1, 1}, {"padding", p.padding, 0, 0}}) {
      const auto& v = a.ints(name);
      if (v.size() != 2 && !(v.empty() && std::string_view(name) != "kernel")) return "C2: " + std::string(name) + " needs 2 entries";
      to[d] = v.empty() ? fallback : v[d];
      if (to[d] < least || to[d] > (1 << 20)) return "C2: " + std::string(name) + " has entry " + std::to_string(to[d]);
    }
    const auto free = sizes[d] + 2 * p.padding[d] - ((p.kernel[d] - 1) * p.dilation[d] + 1);
    if (sizes[d] < 0 || sizes[d] > (std::int64_t{1} << 40) || free < 0) return "C3: an axis of " + std::to_string(sizes[d]) + " is shorter than the window";
    p.out[d] = free / p.stride[d] + 1;
  }
  if (p.kernel[0] * p.kernel[1] > 4096) return std::string("C2: a window has at most 4,096 positions");
  return p;
}

struct Im2col {
  static constexpr OpRow row{"im2col", "x", OpClass::composite, "x is [N, C, H, W]; each patch of the window becomes a column: [N, C kernel_h kernel_w, patches], patches row by row. Padding is 0."};
  static constexpr std::string_view equation = "out[n, (c kh + i) kw + j, p ow + q] = x[n, c, p stride_h - padding_h + i dilation_h, q stride_w - padding_w + j dilation_w], 0 outside";
  static constexpr std::array attrs{AttrSpec{"kernel", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"padding", AttrKind::ints, "[]"}, AttrSpec{"dilation", AttrKind::ints, "[]"}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C, H, W], numeric."}, Constraint{"C2", "kernel, stride, padding and dilation have 2 entries, the latter three may be empty; at most 4,096 positions."}, Constraint{"C3", "the padded image holds a window."}};
  static constexpr std::array edges{Edge{"E1", "a window over padding", "0 there", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

struct Col2im {
  static constexpr OpRow row{"col2im", "x", OpClass::composite, "The transpose of im2col: columns [N, C kernel_h kernel_w, patches] added up where their patches lie in an image of `size`."};
  static constexpr std::string_view equation = "out[n, c, h, w] = sum over i, j, p, q with h = p stride_h - padding_h + i dilation_h, w = q stride_w - padding_w + j dilation_w of x[n, (c kh + i) kw + j, p ow + q]";
  static constexpr std::array attrs{AttrSpec{"size", AttrKind::ints}, AttrSpec{"kernel", AttrKind::ints}, AttrSpec{"stride", AttrKind::ints, "[]"}, AttrSpec{"padding", AttrKind::ints, "[]"}, AttrSpec{"dilation", AttrKind::ints, "[]"}};
  static constexpr std::array constraints{Constraint{"C1", "x is [N, C kernel_h kernel_w, patches], numeric, and size has 2 entries."}, Constraint{"C2", "kernel, stride, padding and dilation have 2 entries, the latter three may be empty; at most 4,096 positions."}, Constraint{"C3", "the padded image holds a window."},
                                          Constraint{"C4", "x has as many rows and columns as the windows say."}};
  static constexpr std::array edges{Edge{"E1", "an element in no patch", "0", "the same: PyTorch"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a);
  static Out decompose(Builder& b, In in, const AttrMap& a);
};

using PadModeOps = OpList<PadMode<Beyond::reflection>, PadMode<Beyond::replication>, PadMode<Beyond::circular>, Im2col, Col2im>;

}  // namespace plumb::ir::ops

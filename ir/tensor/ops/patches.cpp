#include "ir/tensor/ops/pad_modes.h"

namespace plumb::ir::ops {

Inferred Im2col::infer(std::span<const Type> in, const AttrMap& a) {
  if (in[0].rank() != 4 || is_bool(in[0].dtype)) return no("C1: takes numbers of [N,C,H,W], not " + in[0].str());
  const Extents e = in[0].extents();
  const auto patches = patches_of(std::span(e).subspan(2), a);
  if (const auto* why = std::get_if<std::string>(&patches)) return no(*why);
  const auto& p = std::get<Patches>(patches);
  return one({in[0].dtype, {e[0], e[1] * p.kernel[0] * p.kernel[1], p.count()}});
}
/// Each position of the window is a strided slice of the padded image; side by side they are the columns' rows.
Out Im2col::decompose(Builder& b, In in, const AttrMap& a) {
  const Words w{b};
  const Extents e = w.type(in[0]).extents();
  const auto p = std::get<Patches>(patches_of(std::span(e).subspan(2), a));
  const auto x = w.pad(in[0], 0, {0, 0, p.padding[0], p.padding[1]}, {0, 0, p.padding[0], p.padding[1]});
  std::vector<ValueId> rows;
  for (std::int64_t i = 0; i < p.kernel[0]; ++i)
    for (std::int64_t j = 0; j < p.kernel[1]; ++j) {
      const auto top = i * p.dilation[0], left = j * p.dilation[1];
      const auto part = w.slice(w.slice(x, 2, top, top + (p.out[0] - 1) * p.stride[0] + 1, p.stride[0]), 3, left, left + (p.out[1] - 1) * p.stride[1] + 1, p.stride[1]);
      rows.push_back(b.reshape(part, {e[0], e[1], 1, p.count()}));
    }
  return {b.reshape(w.concat(rows, 2), {e[0], e[1] * p.kernel[0] * p.kernel[1], p.count()})};
}

Inferred Col2im::infer(std::span<const Type> in, const AttrMap& a) {
  const auto& size = a.ints("size");
  if (in[0].rank() != 3 || is_bool(in[0].dtype) || size.size() != 2) return no("C1: takes numbers of [N,rows,patches] and two sizes, not " + in[0].str());
  const auto patches = patches_of(size, a);
  if (const auto* why = std::get_if<std::string>(&patches)) return no(*why);
  const auto& p = std::get<Patches>(patches);
  const auto rows = in[0].shape[1].size(), window = p.kernel[0] * p.kernel[1];
  if (rows % window != 0 || in[0].shape[2].size() != p.count()) return no("C4: " + in[0].str() + " has not a multiple of " + std::to_string(window) + " rows, or not " + std::to_string(p.count()) + " columns");
  return one({in[0].dtype, {in[0].shape[0], rows / window, size[0], size[1]}});
}
/// One term a position of the window: its row, spread by the strides.
Out Col2im::decompose(Builder& b, In in, const AttrMap& a) {
  return in_f32(b, in, 0, [&](In v) -> Out {
    const Words w{b};
    const Extents e = w.type(v[0]).extents();
    const auto& size = a.ints("size");
    const auto p = std::get<Patches>(patches_of(size, a));
    const auto window = p.kernel[0] * p.kernel[1];
    const auto x = b.reshape(v[0], {e[0], e[1] / window, window, p.out[0], p.out[1]});
    ValueId sum = -1;
    for (std::int64_t i = 0; i < p.kernel[0]; ++i)
      for (std::int64_t j = 0; j < p.kernel[1]; ++j) {
        const auto part = b.reshape(w.slice(x, 2, i * p.kernel[1] + j, i * p.kernel[1] + j + 1), {e[0], e[1] / window, p.out[0], p.out[1]});
        const std::int64_t top = i * p.dilation[0] - p.padding[0], left = j * p.dilation[1] - p.padding[1];
        const Ints high{0, 0, size[0] - top - ((p.out[0] - 1) * p.stride[0] + 1), size[1] - left - ((p.out[1] - 1) * p.stride[1] + 1)};
        const auto term = w.pad(part, 0, {0, 0, top, left}, high, {0, 0, p.stride[0] - 1, p.stride[1] - 1});
        sum = sum < 0 ? term : w("add", sum, term);
      }
    return {sum};
  });
}

}  // namespace plumb::ir::ops

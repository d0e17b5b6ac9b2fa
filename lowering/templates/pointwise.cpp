// Element by element: any tree of scalar functions and views over the result's index space.
#include "ir/tensor/op_table.h"
#include "lowering/templates/template.h"

namespace plumb::lowering {

void lower_pointwise(KernelContext& c) {
  c.kernel->schedule = "pointwise";
  c.place_buffers(mergeable_axes(c.spec, -1));
  for_each_output(c, [&](const Indices& at) { c.finish(at, std::nullopt); });
}

/// One nest an operand, each writing its own range of the axis: no element chooses between operands. A grid has one nest
/// of threads a kernel, so there each element chooses.
void lower_concat(KernelContext& c) {
  if (c.options.target.grid) return lower_pointwise(c);
  c.kernel->schedule = "concat";
  const auto& n = c.spec.nodes[static_cast<std::size_t>(c.spec.value(c.root).node)];
  const auto axis = static_cast<std::size_t>(n.attrs.integer("axis"));
  // Axes after the concatenated one move together; so do those before it.
  std::vector<bool> merge(c.shape.empty() ? 0 : c.shape.size() - 1, true);
  const bool plain = std::all_of(n.operands.begin(), n.operands.end(), [&](auto o) { return c.spec.value(o).node < 0; });
  for (std::size_t d = 0; d < merge.size(); ++d) merge[d] = plain && d > axis;
  c.place_buffers(merge);
  std::int64_t start = 0;
  const auto element = output_coordinates(c);
  for (auto o : n.operands) {
    const auto part = c.spec.type(o).extents();
    kir::OutputMap map{c.output.buffer, {}};
    std::function<void(Indices)> nest = [&](Indices at) {
      const std::size_t d = at.size();
      if (d < part.size()) {
        const bool last = d + 1 == part.size();
        c.b.loop("i" + std::to_string(d), part[d], last ? kir::LoopKind::vector : kir::LoopKind::parallel, [&](Affine i) {
          map.inverse.emplace_back(loop_var(i), d == axis ? element[d] - start : element[d]);
          auto deeper = at;
          deeper.push_back(i);
          nest(std::move(deeper));
        }, last ? c.width() : 1);
        return;
      }
      c.e.enter_block();
      Indices to = at;
      to[axis] = to[axis] + start;
      c.e.store(c.output, to, c.e.at(o, at), c.spec.type(o).dtype);
    };
    nest({});
    c.kernel->output_maps.push_back(std::move(map));
    start += part[axis];
  }
}

}  // namespace plumb::lowering

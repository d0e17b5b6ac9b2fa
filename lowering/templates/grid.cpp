#include "lowering/templates/grid.h"

namespace plumb::lowering {
namespace {

constexpr std::int64_t block_threads = 128;

std::int64_t pieces(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

using Inverse = std::vector<std::pair<kir::VarId, Affine>>;

/// A flat range of work items over blocks and threads; `body` gets the item, and the loops' values for the item that writes
/// an element of the output.
void for_each_item(KernelContext& c, std::int64_t items, const Affine& item_of_output, const std::function<void(const Affine&, const Inverse&)>& body) {
  const std::int64_t threads = std::clamp<std::int64_t>(items, 1, block_threads);
  // Under the test-only fault the last block, when it is a partial one, loses its last item.
  const std::int64_t wanted = items - (c.options.fault == Fault::tail_mask && items % threads > 1 ? 1 : 0);
  Inverse inverse;
  c.b.loop("block", pieces(items, threads), kir::LoopKind::gpu_block, [&](Affine block) {
    inverse.emplace_back(loop_var(block), kir::floor_div(item_of_output, threads));
    c.b.loop("thread", threads, kir::LoopKind::gpu_thread, [&](Affine thread) {
      inverse.emplace_back(loop_var(thread), kir::mod(item_of_output, threads));
      const Affine item = block * threads + thread;
      const auto one = [&] {
        c.e.enter_block();
        body(item, inverse);
      };
      items % threads ? c.b.when({kir::below(item, wanted)}, one) : one();
    }, 0);
  }, 0);
}

}  // namespace

void for_each_output_on_grid(KernelContext& c, const std::function<void(const Indices&)>& body) {
  for_each_item(c, element_count(c.shape), flat_index(output_coordinates(c), c.shape), [&](const Affine& item, const Inverse& inverse) {
    body(delinearize(item, c.shape, c.b.ranges()));
    c.kernel->output_maps.push_back({c.output.buffer, inverse});
  });
}

void for_each_line_on_grid(KernelContext& c, std::size_t axis, const std::function<void(const std::function<Indices(const Affine&)>&, const Inverse&)>& body) {
  Extents lines = c.shape;
  lines[axis] = 1;
  auto start = output_coordinates(c);
  start[axis] = 0;
  for_each_item(c, element_count(lines), flat_index(start, lines), [&](const Affine& item, const Inverse& inverse) {
    const auto at = delinearize(item, lines, c.b.ranges());
    body([&at, axis](const Affine& k) {
      auto element = at;
      element[axis] = k;
      return element;
    }, inverse);
  });
}

}  // namespace plumb::lowering

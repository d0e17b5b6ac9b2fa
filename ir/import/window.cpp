#include "ir/import/window.h"

namespace plumb::ir::onnx_import {

Ints window_attr(const NodeImport& n, const char* name, std::size_t count, std::int64_t fallback, std::int64_t least) {
  const auto list = n.int_list(name);
  if (!list || list->empty()) return Ints(count, fallback);
  if (list->size() != count) n.fail(std::string(name) + " has " + std::to_string(list->size()) + " entries, not " + std::to_string(count));
  for (auto v : *list)
    if (v < least || v > (1 << 20)) n.fail(std::string(name) + " has entry " + std::to_string(v));
  return *list;
}

Ints kernel_shape(const NodeImport& n, std::size_t spatial) {
  if (!n.has_attr("kernel_shape")) n.fail("attribute 'kernel_shape' is missing");
  return window_attr(n, "kernel_shape", spatial, 1, 1);
}

Ints spatial_sizes(const NodeImport& n, ValueId x) {
  const Extents e = n.extents(x);
  if (e.size() < 3) n.fail("takes [N,C,…] with at least one spatial axis, not " + n.type(x).str());
  return Ints(e.begin() + 2, e.end());
}

Ints with_batch_and_channel(const Ints& entries, std::int64_t filler) {
  Ints r(2, filler);
  r.insert(r.end(), entries.begin(), entries.end());
  return r;
}

Window read_window_without_padding(const NodeImport& n, const Ints& kernel) {
  const auto count = kernel.size();
  return {kernel, window_attr(n, "strides", count, 1, 1), window_attr(n, "dilations", count, 1, 1), Ints(count, 0), Ints(count, 0)};
}

Window read_window(const NodeImport& n, const Ints& kernel, const Ints& sizes) {
  Window w = read_window_without_padding(n, kernel);
  const auto mode = n.text("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    const Ints pads = window_attr(n, "pads", 2 * kernel.size(), 0, 0);
    w.low.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(kernel.size()));
    w.high.assign(pads.begin() + static_cast<std::ptrdiff_t>(kernel.size()), pads.end());
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (std::size_t d = 0; d < kernel.size(); ++d) {
      const auto out = (sizes[d] + w.stride[d] - 1) / w.stride[d];
      const auto total = std::max<std::int64_t>((out - 1) * w.stride[d] + w.span(d) - sizes[d], 0);
      w.low[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[d] = total - w.low[d];
    }
  } else if (mode != "VALID") {
    n.fail("auto_pad is '" + mode + "'");
  }
  return w;
}

}  // namespace plumb::ir::onnx_import

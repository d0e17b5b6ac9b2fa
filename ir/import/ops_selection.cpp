// Results whose size depends on the data: Unique, NonMaxSuppression. (NonZero and Compress stand in their families.)
#include <limits>

#include "ir/import/families.h"

namespace plumb::ir::onnx_import {
namespace {

void unique(NodeImport& n) {
  const auto x = n.in(0);
  const auto axis = n.has_attr("axis") ? n.axis(n.integer("axis"), n.rank(x)) : -1;
  const auto r = n.b.add("unique", std::array{x}, attrs({{"axis", axis}, {"sorted", n.integer("sorted", 1) != 0}}));
  n.out_padded(0, r[0], std::max<std::int64_t>(axis, 0), r[4]);
  if (n.wants(1)) n.out_padded(1, r[1], 0, r[4]);
  if (n.wants(2)) n.out(2, r[2]);
  if (n.wants(3)) n.out_padded(3, r[3], 0, r[4]);
}

double threshold(NodeImport& n, std::size_t i, const char* what, double fallback) {
  if (!n.has(i)) return fallback;
  const auto r = n.need_reals(i, what);
  if (r.size() != 1) n.fail(std::string(what) + " must be one number, not " + std::to_string(r.size()));
  return r[0];
}

void non_max_suppression(NodeImport& n) {
  const auto most = n.has(2) ? std::max<std::int64_t>(n.need_int(2, "max_output_boxes_per_class"), 0) : 0;
  const auto r = n.b.add("non_max_suppression", std::array{n.in(0), n.in(1)},
                         attrs({{"max_boxes", most}, {"iou_threshold", threshold(n, 3, "iou_threshold", 0)}, {"score_threshold", threshold(n, 4, "score_threshold", -std::numeric_limits<double>::infinity())},
                                {"center_point", n.integer("center_point_box", 0) != 0}}));
  n.out_padded(0, r[0], 0, r[1]);
}

constexpr OpEntry entries[] = {{"NonMaxSuppression", 2, 5, non_max_suppression}, {"Unique", 1, 1, unique}};
}  // namespace
std::span<const OpEntry> selection_family() { return entries; }
}  // namespace plumb::ir::onnx_import

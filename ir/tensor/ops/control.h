// Control flow. The functions named are functions of the same module; the verifier checks their signatures.
#pragma once
#include "ir/tensor/ops/common.h"

namespace plumb::ir::ops {

struct If {
  static constexpr OpRow row{"if", "condition, operands...", OpClass::control, "then(operands) when condition (bool[]) holds, else else(operands). Both functions take the operands' types and give the same types."};
  static constexpr std::array attrs{AttrSpec{"then", AttrKind::text}, AttrSpec{"else", AttrKind::text}};
  static constexpr std::string_view equation =
      "r = condition[] ? then(operands) : else(operands)";
  static constexpr std::string_view derivative = "the taken function's tangents.";
  static constexpr std::array constraints{
      Constraint{"C1", "The first operand is the condition, bool[]."},
      Constraint{"C2", "The types of the results are stated by whoever builds it: they are the functions'. (In text they stand after the colon.)"}};
  static constexpr std::array edges{
      Edge{"E1", "an error in the function that is not taken", "does not happen", "the same: ONNX, JAX's cond"},
      Edge{"E2", "no operands", "the function's own value"},
      Edge{"E3", "one function for both", "allowed"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) {
    if (in.empty() || in[0] != Type{DType::boolean, {}}) return no("C1: the condition must be bool[]");
    return no("C2: the result types of if come from its functions; build it with them stated");
  }
};

struct While {
  static constexpr OpRow row{"while", "operands...", OpClass::control, "Replaces the operands by body(operands) as long as cond(operands), a bool[], holds; gives the last ones."};
  static constexpr std::array attrs{AttrSpec{"cond", AttrKind::text}, AttrSpec{"body", AttrKind::text}};
  static constexpr std::string_view equation =
      "r = operands;  while cond(r)[] holds: r = body(r)";
  static constexpr std::string_view derivative = "the tangents go through body as the values do; cond has none.";
  static constexpr std::array edges{
      Edge{"E1", "a condition that never holds", "the operands"},
      Edge{"E2", "a value that the body passes on", "unchanged, and no copy is seen"},
      Edge{"E3", "a condition on NaN", "comparisons with NaN are false: the loop ends"}};
  static Inferred infer(std::span<const Type> in, const AttrMap&) { return std::vector<Type>(in.begin(), in.end()); }
};

struct ScanLoop {
  static constexpr OpRow row{"scan", "operands...", OpClass::control,
      "Runs body once for each slice along axis 0 of the scanned operands, those after the first `carries`, in order, or from the last one when reverse. body takes the carried values and a slice of each scanned operand (without the axis), and gives the next "
      "carried values and slices of results. The scan's results are the last carried values and, along a new axis 0, the slices: each stands where the slices that it was made from stood."};
  static constexpr std::array attrs{AttrSpec{"body", AttrKind::text}, AttrSpec{"carries", AttrKind::integer}, AttrSpec{"reverse", AttrKind::boolean, "false"}};
  static constexpr std::string_view equation =
      "c = operands[0 … carries - 1];  for t = 0 … n - 1 (reverse: n - 1 … 0): (c, y[t]) = body(c, operands[carries][t], operands[carries + 1][t], …);  r = (c, y)";
  static constexpr std::string_view derivative = "the tangents go through body as the values do.";
  static constexpr std::array constraints{
      Constraint{"C1", "carries lies in [0, number of operands - 1]: at least one operand is scanned. All scanned operands have the same size along axis 0."},
      Constraint{"C2", "The types of the results are stated by whoever builds it: they are the function's. (In text they stand after the colon.)"}};
  static constexpr std::array edges{
      Edge{"E1", "scanned operands of size 0", "the carried values as they came, and results of size 0", "the same: JAX's scan; ONNX leaves it open"},
      Edge{"E2", "reverse", "the last slice first; a result's slice stands where its operand's stood", "the same: JAX's scan; ONNX by scan_input_directions and scan_output_directions"},
      Edge{"E3", "a carried value that the body passes on", "unchanged"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    if (auto why = check_scan(in, a); !why.empty()) return no("C1: " + why);
    return no("C2: the result types of scan come from its function; build it with them stated");
  }
  static std::string check_scan(std::span<const Type> in, const AttrMap& a) {
    const auto carries = a.integer("carries"), operands = static_cast<std::int64_t>(in.size());
    if (carries < 0 || carries >= operands) return "carries is " + std::to_string(carries) + " of " + std::to_string(operands) + " operands: at least one must be scanned";
    for (const auto& t : in.subspan(static_cast<std::size_t>(carries)))
      if (t.rank() == 0 || t.shape[0] != in.back().shape[0]) return "the scanned operands need an axis 0, of one size: " + t.str() + " beside " + in.back().str();
    return {};
  }
};

/// A loop whose body the compiler makes itself: expand_loops (ir/tensor/loops.h) writes it as a while.
struct NonMaxSuppression {
  static constexpr OpRow row{"non_max_suppression", "boxes, scores", OpClass::control,
      "Boxes of high score that overlap no better one much. For each image and class the boxes whose score is greater than score_threshold are taken by falling score, at most max_boxes; each taken one removes those left "
      "whose overlap with it (area of the intersection over area of the union) is greater than iou_threshold. A box is two opposite corners (y1, x1, y2, x2), in any order, or, where center_point holds, (x, y, width, height) of its centre. "
      "boxes is [images, n, 4], scores [images, classes, n]. The first result, i64[images · classes · min(max_boxes, n), 3], has a row (image, class, box) for each box taken, by image, then class, then falling score, and -1 after the last; the second (i64[]) says how many."};
  static constexpr std::array attrs{AttrSpec{"max_boxes", AttrKind::integer}, AttrSpec{"iou_threshold", AttrKind::real, "0"}, AttrSpec{"score_threshold", AttrKind::real, "-inf"}, AttrSpec{"center_point", AttrKind::boolean, "false"}};
  static constexpr std::string_view equation =
      "left = {b: scores[i, c, b] > score_threshold};  repeat at most max_boxes times while left is not empty:\n"
      "  b = the first of the greatest scores in left;  give (i, c, b);  left = {k in left, k != b: not overlap(b, k) > iou_threshold}\n"
      "overlap(b, k) = I / (area(b) + area(k) - I), and 0 where an area, I or the union is not positive;  I = area of the intersection;  every step rounds to the boxes' dtype";
  static constexpr std::array constraints{
      Constraint{"C1", "boxes is [images, n, 4], scores [images, classes, n], of one float dtype."},
      Constraint{"C2", "max_boxes is not negative."},
      Constraint{"C3", "iou_threshold and score_threshold are not NaN."}};
  static constexpr std::array edges{
      Edge{"E1", "equal scores", "the box of the least index first", "ONNX leaves it open; ONNX Runtime does the same"},
      Edge{"E2", "a score of NaN", "the box is not taken", "the same: ONNX Runtime with a threshold"},
      Edge{"E3", "boxes without area", "overlap nothing", "the same: ONNX Runtime"},
      Edge{"E4", "max_boxes = 0, or no boxes", "no rows", "the same: ONNX"},
      Edge{"E5", "an overlap that equals iou_threshold", "does not remove the box", "the same: ONNX, torchvision"},
      Edge{"E6", "corners in another order", "the same box", "the same: ONNX; torchvision asks for the lower corner first"},
      Edge{"E7", "a score of -inf, or one that equals score_threshold", "the box is not taken", "ONNX Runtime takes -inf where no threshold is given"}};
  static Inferred infer(std::span<const Type> in, const AttrMap& a) {
    const auto &boxes = in[0], &scores = in[1];
    if (!is_float(boxes.dtype) || scores.dtype != boxes.dtype || boxes.rank() != 3 || scores.rank() != 3 || boxes.shape[2] != Dim(4) || boxes.shape[0] != scores.shape[0] || boxes.shape[1] != scores.shape[2])
      return no("C1: boxes " + boxes.str() + " and scores " + scores.str());
    if (a.integer("max_boxes") < 0) return no("C2: max_boxes is " + std::to_string(a.integer("max_boxes")));
    if (a.real("iou_threshold") != a.real("iou_threshold") || a.real("score_threshold") != a.real("score_threshold")) return no("C3: a threshold is NaN");
    const Wide rows = Wide(scores.shape[0].size()) * scores.shape[1].size() * std::min(a.integer("max_boxes"), boxes.shape[1].size());
    return std::vector<Type>{{DType::i64, {static_cast<std::int64_t>(rows), 3}}, {DType::i64, {}}};
  }
};

using ControlOps = OpList<If, While, ScanLoop, NonMaxSuppression>;

}  // namespace plumb::ir::ops

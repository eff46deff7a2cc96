// ONNX's forms of the operations on boxes in tensor/ops/vision.
#include <algorithm>

#include "firn/io/onnx/internal/onnx_compose.h"

namespace firn::io::internal {
namespace {

using V = OnnxValue;

// Boxes of images that do not exist give 0 here; runtimes refuse them.
struct Boxes {
  V image, inside, corners;
};
Boxes BoxesOf(OnnxExportCall& n) {
  const V first = n.Squeeze(n.Slice(n.in(1), 1, 0, 1), {1});
  const V image = n.Cast(n.Node("Floor", {first}), DType::kI64);
  const V below = n.Compare("Less", image, n.ShapeTensor({n.sizes(0)[0]}));
  const V inside = n.Node("And", {below, n.Compare("GreaterOrEqual", image, 0)});
  return {n.Where(inside, image, n.Integer(0)), inside, n.Slice(n.in(1), 1, 1, 5)};
}
void OutInside(OnnxExportCall& n, const Boxes& boxes, const V& y) {
  n.Out(0, n.Where(n.Unsqueeze(boxes.inside, {1, 2, 3}), y, n.Number(0, y.dtype)));
}
FIRN_ONNX_EXPORT(roi_pool) {
  if (n.wants(1)) return n.Refuse("whose positions are wanted");
  const Boxes boxes = BoxesOf(n);
  const V image = n.Unsqueeze(n.Cast(boxes.image, n.dtype(1)), {1});
  OutInside(n, boxes,
            n.Node("MaxRoiPool", {n.in(0), n.Concat({image, boxes.corners}, 1)},
                   {{"pooled_shape", n.Each("output_size", 2)},
                    {"spatial_scale", n.Real("spatial_scale")}}));
}
FIRN_ONNX_EXPORT(roi_align) {
  n.NeedsOpset(16);
  const Boxes boxes = BoxesOf(n);
  const std::vector<int64_t> size = n.Each("output_size", 2);
  OutInside(n, boxes,
            n.Node("RoiAlign", {n.in(0), boxes.corners, boxes.image},
                   {{"output_height", size[0]},
                    {"output_width", size[1]},
                    {"sampling_ratio", std::max<int64_t>(n.Int("sampling_ratio"), 0)},
                    {"spatial_scale", n.Real("spatial_scale")},
                    {"coordinate_transformation_mode",
                     n.Flag("aligned") ? "half_pixel" : "output_half_pixel"}}));
}

// Boxes [lines, n, 4] against each other, [lines, n, n]: whether the one in the row overlaps the
// one in the column by more than the threshold.
V Overlaps(OnnxExportCall& n, const V& boxes, double threshold) {
  const auto corner = [&](int64_t i, int64_t dim) {
    return n.Unsqueeze(n.Squeeze(n.Slice(boxes, 2, i, i + 1), {2}), {dim});
  };
  const auto area = [&](int64_t dim) {
    return Max(corner(2, dim) - corner(0, dim), 0) * Max(corner(3, dim) - corner(1, dim), 0);
  };
  const auto side = [&](int64_t low, int64_t high) {
    return Max(Min(corner(high, 2), corner(high, 1)) - Max(corner(low, 2), corner(low, 1)), 0);
  };
  const V common = side(0, 2) * side(1, 3), first = area(2), second = area(1);
  const V some = Above(first, 0) & Above(second, 0);
  const V both = first + second - common, safe = Where(some, both, One(both));
  return some & Above(common / safe, threshold);
}
// Whether a box is kept depends on the boxes before it. Each round keeps the boxes that no box kept
// in the last round overlaps. Round i settles box i at the latest, so there are as many rounds as
// boxes.
FIRN_ONNX_EXPORT(nms_mask) {
  constexpr int64_t kMost = 64;
  const int64_t count = n.size(1, -1);
  if (count == 0) return n.Out(0, n.in(1));
  OnnxSizes lines = {{1, 1}, {count, count}};
  for (size_t d = 0; d + 1 < n.sizes(1).size(); ++d) {
    lines[0].now *= n.sizes(1)[d].now;
    lines[0].other *= n.sizes(1)[d].other;
  }
  OnnxSizes corners = lines;
  corners.push_back({4, 4});
  V over = Overlaps(n, n.ReshapeTo(n.in(0), corners), n.Real("iou_threshold"));
  if (n.has(2)) {
    const V group = n.ReshapeTo(n.in(2), lines);
    over = over & n.Compare("Equal", n.Unsqueeze(group, {2}), n.Unsqueeze(group, {1}));
  }
  const V places = n.Ints(Counted(static_cast<int>(count)));
  over = over & Below(n.Unsqueeze(places, {1}), n.Unsqueeze(places, {0}));
  const V beats = AsNumber(over, DType::kF32);  // whether the row's box removes the column's
  const V candidates = n.ReshapeTo(n.in(1), lines);
  const auto kept_by = [&](const V& these) {
    const V row = n.Unsqueeze(AsNumber(these, DType::kF32), {1});
    return candidates & Equal(n.Squeeze(MatMul(row, beats), {1}), 0);
  };
  V keep = kept_by(candidates);
  if (n.Flag("by_kept")) {
    if (count > kMost) return n.Refuse("of more than 64 boxes that suppress one another");
    for (int64_t round = 1; round < count; ++round) keep = kept_by(keep);
  }
  n.Out(0, n.ReshapeTo(keep, n.out_sizes(0)));
}

}  // namespace
}  // namespace firn::io::internal

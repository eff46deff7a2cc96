// Numbers of anchors enter as constants of operations, not as tensors, so that boxes can be
// captured with the network.
#include "firn/nn/zoo/detection.h"

#include <algorithm>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/create/range.h"
#include "firn/tensor/ops/elementwise/exponential.h"
#include "firn/tensor/ops/index/masks.h"
#include "firn/tensor/ops/index/select.h"
#include "firn/tensor/ops/reduce/extreme.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/nms.h"

namespace firn::zoo {
namespace {

void CheckBoxes(const ScoredBoxes& b, const DetectionOptions& options) {
  if (b.boxes.rank() != 3 || b.scores.rank() != 3 || b.boxes.size(2) != 4 ||
      b.boxes.size(0) != b.scores.size(0) || b.boxes.size(1) != b.scores.size(1) ||
      b.scores.size(2) < 1) {
    RaiseStatus(InvalidArgument("expected boxes [n, boxes, 4] and scores [n, boxes, classes], got ",
                                b.boxes.shape().ToString(), " and ", b.scores.shape().ToString()),
                "zoo::Detect");
  }
  if (options.most < 1) {
    RaiseStatus(InvalidArgument("expected at least one object, got most = ", options.most),
                "zoo::Detect");
  }
}

Detections DetectIn(const Tensor& boxes, const Tensor& scores, const DetectionOptions& options) {
  const ValuesAndIndices best = Max(scores, 1);
  const Tensor high = Flatten(Nonzero(best.values >= options.score));
  Detections found = {IndexSelect(boxes, 0, high), IndexSelect(best.values, 0, high),
                      IndexSelect(best.indices, 0, high)};
  Tensor kept = BatchedNms(found.boxes, found.scores, found.classes, options.iou);
  kept = Narrow(kept, 0, 0, std::min(options.most, kept.size(0)));
  return {IndexSelect(found.boxes, 0, kept), IndexSelect(found.scores, 0, kept),
          IndexSelect(found.classes, 0, kept)};
}

Tensor Cells(int64_t size, const Shape& shape, const Tensor& like) {
  return Reshape(
      Arange(int64_t{0}, size, int64_t{1}, {.dtype = like.dtype(), .device = like.device()}),
      shape);
}

// Corners of one anchor's boxes. x: [n, h, w, 5 + classes]      y: [n, h, w, 4]
Tensor Corners(const Tensor& x, const std::array<double, 2>& anchor, int64_t stride) {
  const auto number = [&](int64_t i) { return Select(x, 3, i); };
  const Tensor middle_x = (Sigmoid(number(0)) + GridColumns(x.size(2), x)) * stride;
  const Tensor middle_y = (Sigmoid(number(1)) + GridRows(x.size(1), x)) * stride;
  const Tensor half_width = Exp(number(2)) * (anchor[0] / 2);
  const Tensor half_height = Exp(number(3)) * (anchor[1] / 2);
  return Stack({middle_x - half_width, middle_y - half_height, middle_x + half_width,
                middle_y + half_height},
               3);
}

int64_t RowsOf(const YoloGrid& grid, int64_t height, int64_t width) {
  if (grid.stride < 1 || height % grid.stride != 0 || width % grid.stride != 0) {
    RaiseStatus(InvalidArgument("expected images that cells of ", grid.stride, " pixels fill, got ",
                                height, " by ", width),
                "zoo::YoloBoxes");
  }
  return height / grid.stride * (width / grid.stride) * static_cast<int64_t>(grid.anchors.size());
}

}  // namespace

std::vector<Detections> Detect(const ScoredBoxes& boxes, const DetectionOptions& options) {
  CheckBoxes(boxes, options);
  std::vector<Detections> images;
  for (int64_t i = 0; i < boxes.boxes.size(0); ++i) {
    images.push_back(DetectIn(Select(boxes.boxes, 0, i), Select(boxes.scores, 0, i), options));
  }
  return images;
}

Tensor GridColumns(int64_t width, const Tensor& like) { return Cells(width, {1, 1, width}, like); }
Tensor GridRows(int64_t height, const Tensor& like) { return Cells(height, {1, height, 1}, like); }

Tensor BoxRows(const Tensor& x, int64_t anchors) {
  const int64_t numbers = x.size(1) / anchors;
  const Tensor split = Reshape(x, {x.size(0), anchors, numbers, x.size(2), x.size(3)});
  return Reshape(Permute(split, {0, 3, 4, 1, 2}),
                 {x.size(0), x.size(2) * x.size(3) * anchors, numbers});
}

std::vector<YoloGrid> GridsOf(const std::vector<std::array<int64_t, 2>>& sizes,
                              const std::vector<std::array<double, 2>>& anchors) {
  const auto left = [&](auto from) { return static_cast<int64_t>(anchors.end() - from); };
  auto at = anchors.begin();
  std::vector<YoloGrid> grids;
  for (const auto& [stride, count] : sizes) {
    if (count < 0 || count > left(at)) {
      RaiseStatus(InvalidArgument("expected a grid's number of anchors, of which ", left(at),
                                  " are left, got ", count),
                  "grids");
    }
    grids.push_back({stride, {at, at + count}});
    at += count;
  }
  if (at != anchors.end()) {
    RaiseStatus(InvalidArgument("expected ", anchors.size() - static_cast<size_t>(left(at)),
                                " anchors, as grids tell, got ", anchors.size()),
                "anchors");
  }
  return grids;
}

ScoredBoxes YoloBoxes(const Tensor& raw, const std::vector<YoloGrid>& grids, int64_t height,
                      int64_t width, bool one_class) {
  int64_t rows = 0;
  for (const YoloGrid& grid : grids) rows += RowsOf(grid, height, width);
  if (raw.rank() != 3 || raw.size(1) != rows || raw.size(2) < 6) {
    RaiseStatus(InvalidArgument("expected predictions [n, ", rows, ", 5 + classes], got ",
                                raw.shape().ToString()),
                "zoo::YoloBoxes");
  }
  std::vector<Tensor> boxes;
  int64_t at = 0;
  for (const YoloGrid& grid : grids) {
    const auto anchors = static_cast<int64_t>(grid.anchors.size());
    const Tensor cells =
        Reshape(Narrow(raw, 1, at, RowsOf(grid, height, width)),
                {raw.size(0), height / grid.stride, width / grid.stride, anchors, raw.size(2)});
    std::vector<Tensor> corners;
    for (int64_t a = 0; a < anchors; ++a) {
      corners.push_back(
          Corners(Select(cells, 3, a), grid.anchors[static_cast<size_t>(a)], grid.stride));
    }
    const Tensor all = Stack(corners, 3);
    boxes.push_back(Reshape(all, {raw.size(0), RowsOf(grid, height, width), 4}));
    at += RowsOf(grid, height, width);
  }
  const Tensor objectness = Sigmoid(Narrow(raw, 2, 4, 1));
  const Tensor classes = Narrow(raw, 2, 5, raw.size(2) - 5);
  return {Concat(boxes, 1), objectness * (one_class ? Softmax(classes, 2) : Sigmoid(classes))};
}

}  // namespace firn::zoo

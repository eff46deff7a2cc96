#ifndef FIRN_NN_ZOO_DETECTION_H_
#define FIRN_NN_ZOO_DETECTION_H_

// Turns predictions of detectors into the objects of an image.

#include <array>
#include <cstdint>
#include <vector>

#include "firn/nn/zoo/option_rows.h"
#include "firn/tensor/tensor.h"

namespace firn::zoo {

// The boxes that a network proposes, with a score of each class.
struct ScoredBoxes {
  Tensor boxes;   // [n, boxes, 4]: x1, y1, x2, y2 in pixels
  Tensor scores;  // [n, boxes, classes], within 0 and 1
};

struct DetectionOptions {
  double score = 0.5;  // lower scores are no objects
  double iou = 0.45;   // among boxes of one class that overlap more, only the best stays
  int64_t most = 100;  // objects of an image, the best ones
};

// The objects of one image, by falling score.
struct Detections {
  Tensor boxes;    // [objects, 4]: x1, y1, x2, y2
  Tensor scores;   // [objects]
  Tensor classes;  // i64 [objects]
};

// The objects of each image: boxes whose best score is high enough, without those that a better one
// of their class overlaps (BatchedNms). How many there are is read on the host: an error during
// capture. Throws for other shapes and `most` below 1.
std::vector<Detections> Detect(const ScoredBoxes& boxes, const DetectionOptions& options = {});

// A convolution's result for a grid's cells, in the order of boxes: by row, column and anchor. x:
// [n, anchors numbers, h, w] y: [n, h w anchors, numbers]
Tensor BoxRows(const Tensor& x, int64_t anchors);

// 0, 1, ... for each column (row) of a grid as [1, 1, width] ([1, height, 1]), like `like`.
Tensor GridColumns(int64_t width, const Tensor& like);
Tensor GridRows(int64_t height, const Tensor& like);

// Boxes that a cell of a grid proposes, in YOLO v2 and v3.
struct YoloGrid {
  int64_t stride = 32;                              // pixels of a cell
  std::vector<std::array<double, 2>> anchors = {};  // widths and heights, in pixels
};

// Grids with these numbers of pixels and anchors. Throws unless the number of anchors fits.
std::vector<YoloGrid> GridsOf(const std::vector<std::array<int64_t, 2>>& sizes,
                              const std::vector<std::array<double, 2>>& anchors);

// Shows `grids` as options: "grids", pixels of a cell and the number of anchors of each, and
// "anchors", their widths and heights, those of one grid after another. Throws if a reader has set
// inconsistent numbers of anchors.
template <class V>
void VisitGrids(V& v, std::vector<YoloGrid>& grids) {
  std::vector<std::array<int64_t, 2>> sizes;
  std::vector<std::array<double, 2>> anchors;
  for (const YoloGrid& grid : grids) {
    sizes.push_back({grid.stride, static_cast<int64_t>(grid.anchors.size())});
    anchors.insert(anchors.end(), grid.anchors.begin(), grid.anchors.end());
  }
  VisitRows(v, "grids", sizes);
  VisitRows(v, "anchors", anchors);
  grids = GridsOf(sizes, anchors);
}

// The boxes of predictions x, y, width, height, objectness and classes: the middle of a box is
// (sigmoid(x) + column, sigmoid(y) + row) in cells, its size the anchor's times (e^width,
// e^height), and a class's score its probability times sigmoid(objectness). raw: [n, boxes, 5 +
// classes], those of `grids` one after another for images [.., height, width] `one_class`:
// probabilities of classes are a softmax, otherwise a sigmoid of each. Throws unless the strides
// divide the image and the numbers of boxes agree.
ScoredBoxes YoloBoxes(const Tensor& raw, const std::vector<YoloGrid>& grids, int64_t height,
                      int64_t width, bool one_class);

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_DETECTION_H_

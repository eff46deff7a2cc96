// Boxes of detectors' predictions by the papers' formulas, and the objects that remain after
// suppression.
#include "firn/nn/zoo/detection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "firn/nn/zoo/ssdlite.h"
#include "firn/nn/zoo/yolo_v2.h"
#include "firn/nn/zoo/yolo_v3.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::zoo {
namespace {

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

// An image of 64x32 pixels has two cells one above the other, of two anchors each.
TEST(Detection, YoloBoxesFollowTheFormula) {
  std::vector<float> raw(4 * 7, 0);
  float* const third = &raw[2 * 7];  // row 1, column 0, anchor 0
  const float numbers[] = {0.5f, -1, 0.25f, -0.5f, 2, 1, 3};
  std::copy(std::begin(numbers), std::end(numbers), third);
  const std::vector<YoloGrid> grids = {{32, {{10, 20}, {30, 40}}}};
  for (const bool one_class : {true, false}) {
    const ScoredBoxes got = YoloBoxes(FromVector(raw, {1, 4, 7}), grids, 64, 32, one_class);
    ASSERT_EQ(got.boxes.shape(), Shape({1, 4, 4}));
    ASSERT_EQ(got.scores.shape(), Shape({1, 4, 2}));
    const double x = 32 * SigmoidOf(0.5), y = 32 * (SigmoidOf(-1) + 1);
    const double w = 10 * std::exp(0.25), h = 20 * std::exp(-0.5);
    const auto box = Select(Select(got.boxes, 0, 0), 0, 2).ToVector<double>();
    EXPECT_NEAR(box[0], x - w / 2, 1e-4);
    EXPECT_NEAR(box[1], y - h / 2, 1e-4);
    EXPECT_NEAR(box[2], x + w / 2, 1e-4);
    EXPECT_NEAR(box[3], y + h / 2, 1e-4);
    const auto scores = Select(Select(got.scores, 0, 0), 0, 2).ToVector<double>();
    const double first = one_class ? 1 / (1 + std::exp(2.0)) : SigmoidOf(1);
    EXPECT_NEAR(scores[0], SigmoidOf(2) * first, 1e-6);
    // A cell of zeros has its anchor in its middle.
    const auto second = Select(Select(got.boxes, 0, 0), 0, 1).ToVector<double>();
    EXPECT_EQ(second, std::vector<double>({1, -4, 31, 36}));
  }
}

TEST(Detection, RowsAreByRowColumnAndAnchor) {
  // Two anchors of three numbers on a grid of 1x2 places: the channel is in the tens.
  const Tensor x = FromVector<float>({0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51}, {1, 6, 1, 2});
  EXPECT_EQ(BoxRows(x, 2).ToVector<int>(),
            std::vector<int>({0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51}));
}

TEST(Detection, KeepsTheBestOfBoxesOfAClassThatOverlap) {
  const Tensor boxes = FromVector<float>(
      {0, 0, 10, 10, 1, 0, 11, 10, 50, 50, 60, 60, 0, 0, 10, 10, 70, 70, 80, 80}, {1, 5, 4});
  const Tensor scores =
      FromVector<float>({0.6f, 0, 0.9f, 0, 0, 0.7f, 0, 0.8f, 0.4f, 0.3f}, {1, 5, 2});
  std::vector<Detections> found = Detect({boxes, scores});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].classes.ToVector<int>(), std::vector<int>({0, 1, 1}));
  EXPECT_EQ(found[0].scores.ToVector<float>(), std::vector<float>({0.9f, 0.8f, 0.7f}));
  EXPECT_EQ(Select(found[0].boxes, 0, 0).ToVector<int>(), std::vector<int>({1, 0, 11, 10}));
  found = Detect({boxes, scores}, {.score = 0.35, .most = 2});
  EXPECT_EQ(found[0].scores.ToVector<float>(), std::vector<float>({0.9f, 0.8f}));
  found = Detect({boxes, scores}, {.score = 0.95});
  EXPECT_EQ(found[0].boxes.shape(), Shape({0, 4}));
}

TEST(Detection, RefusesWhatIsNoPrediction) {
  const std::vector<YoloGrid> grids = {{32, {{10, 20}}}};
  EXPECT_THROW(YoloBoxes(Zeros({1, 2, 7}), grids, 64, 64, true), Error);
  EXPECT_THROW(YoloBoxes(Zeros({1, 4, 7}), grids, 65, 64, true), Error);
  EXPECT_THROW(Detect({Zeros({1, 2, 4}), Zeros({1, 3, 2})}), Error);
  EXPECT_THROW(Detect({Zeros({1, 2, 4}), Zeros({1, 2, 2})}, {.most = 0}), Error);
}

// The published networks' own grids fit what they predict.
TEST(Detection, NetworksTellTheirBoxes) {
  const NoGradScope no_grad;
  const Tensor image = Zeros({1, 3, 64, 96});
  YoloV2 v2({.classes = 3});
  EXPECT_EQ(v2.Boxes(v2(image), 64, 96).boxes.shape(), Shape({1, 30, 4}));
  YoloV3 v3({.classes = 3});
  EXPECT_EQ(v3.Boxes(v3(image), 64, 96).scores.shape(), Shape({1, 378, 3}));
}

// torchvision's default boxes for 320x320 pixels: the first and the last of each kind.
TEST(Detection, SsdliteBoxesAreTheDefaultOnesMoved) {
  Ssdlite net({.classes = 2});
  std::vector<float> raw(3234 * 6, 0);
  raw[0] = 1;  // a tenth of the width
  raw[3] = 5;  // e times as high
  const ScoredBoxes got = net.Boxes(FromVector(raw, {1, 3234, 6}), 320, 320);
  const auto box = [&](int64_t i) {
    return Select(Select(got.boxes, 0, 0), 0, i).ToVector<double>();
  };
  const double high = 32 * std::exp(1.0);
  EXPECT_NEAR(box(0)[0], 0, 1e-3);
  EXPECT_NEAR(box(0)[2], 8 + 6.4 + 32, 1e-3);
  EXPECT_NEAR(box(0)[3], 8 + high, 1e-3);
  EXPECT_EQ(box(6 * 21 + 2)[0], 0);  // the image's edge
  EXPECT_NEAR(box(6 * 21 + 3)[3], 24 + 32 * std::sqrt(2.0), 1e-3);
  EXPECT_EQ(got.scores.shape(), Shape({1, 3234, 1}));
  EXPECT_NEAR(got.scores.ToVector<double>()[5], 0.5, 1e-6);
  EXPECT_THROW(net.Boxes(Zeros({1, 3234, 6}), 336, 320), Error);
}

}  // namespace
}  // namespace firn::zoo

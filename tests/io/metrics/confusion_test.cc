// Expected numbers are fractions written out by the definitions.
#include "firn/io/metrics/confusion.h"

#include <cmath>
#include <vector>

#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {
namespace {

using ::firn::testing::ErrorOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Ids(std::vector<int64_t> ids) { return FromVector(std::move(ids)); }

// Class 3 does not occur; class 2 is predicted and never right.
const std::vector<int64_t> kLabels = {0, 0, 0, 1, 1, 1, 1};
const std::vector<int64_t> kPredictions = {0, 0, 1, 1, 1, 2, 0};

TEST(ConfusionMatrixTest, HasLabelsAsRows) {
  ConfusionMatrix matrix({.classes = 3});
  matrix.Update(Ids(kPredictions), Ids(kLabels));
  EXPECT_THAT(matrix.Value().ToVector<int>(), ElementsAre(2, 1, 0, 1, 2, 1, 0, 0, 0));
  EXPECT_EQ(matrix.Value().shape(), Shape({3, 3}));
  EXPECT_EQ(matrix.at(1, 2), 1);
  EXPECT_EQ(matrix.classes(), 3);
  ConfusionMatrix scores({.classes = 3});
  scores.Update(FromVector<float>({0, 1, 0, 0, 0, 1}, {2, 3}), Ids({0, 1}));
  matrix.Merge(scores);
  EXPECT_THAT(matrix.Value().ToVector<int>(), ElementsAre(2, 2, 0, 1, 2, 2, 0, 0, 0));
  matrix.Reset();
  EXPECT_EQ(Sum(matrix.Value()).Item<int>(), 0);
}

TEST(ConfusionMatrixTest, RefusesWhatDoesNotFitAndKeepsItsCounts) {
  EXPECT_THAT(ErrorOf([] { ConfusionMatrix({.classes = 0}); }), HasSubstr("0 classes"));
  EXPECT_THAT(ErrorOf([] { ConfusionMatrix({.classes = 50000}); }), HasSubstr("want 1 to 46340"));
  ConfusionMatrix matrix({.classes = 2, .ignore_label = 255});
  EXPECT_THAT(ErrorOf([&] {
                matrix.Update(Ids({0, 2}), Ids({0, 1}));
              }),
              HasSubstr("a prediction is 2 (want 0 to 1)"));
  EXPECT_THAT(ErrorOf([&] {
                matrix.Update(Ids({0, 1}), Ids({0, -1}));
              }),
              HasSubstr("a label is -1 (want 0 to 1)"));
  EXPECT_THAT(ErrorOf([&] { matrix.Merge(ConfusionMatrix({.classes = 3})); }),
              HasSubstr("cannot merge counts of 3 classes into 2"));
  EXPECT_EQ(Sum(matrix.Value()).Item<int>(), 0);
  matrix.Update(Ids({0, 7}), Ids({0, 255}));
  EXPECT_EQ(matrix.at(0, 0), 1);
}

TEST(PrecisionRecallTest, AveragesOverClassesOrDecisions) {
  PrecisionRecall macro({.classes = 4}), micro({.classes = 4, .average = Average::kMicro});
  EXPECT_TRUE(std::isnan(macro.Value().f1));
  for (PrecisionRecall* metric : {&macro, &micro}) metric->Update(Ids(kPredictions), Ids(kLabels));
  EXPECT_DOUBLE_EQ(macro.Value().precision, (2.0 / 3 + 2.0 / 3 + 0) / 3);
  EXPECT_DOUBLE_EQ(macro.Value().recall, (2.0 / 3 + 2.0 / 4 + 0) / 3);
  EXPECT_DOUBLE_EQ(macro.Value().f1, (2.0 / 3 + 4.0 / 7 + 0) / 3);
  EXPECT_DOUBLE_EQ(micro.Value().precision, 4.0 / 7);
  EXPECT_DOUBLE_EQ(micro.Value().recall, 4.0 / 7);
  EXPECT_DOUBLE_EQ(micro.Value().f1, 4.0 / 7);
}

TEST(PrecisionRecallTest, GivesEachClass) {
  PrecisionRecall metric({.classes = 4}), half({.classes = 4});
  half.Update(Ids({0, 0, 1}), Ids({0, 0, 0}));
  metric.Update(Ids({1, 1, 2, 0}), Ids({1, 1, 1, 1}));
  metric.Merge(half);
  const std::vector<PrecisionRecallF1> each = metric.PerClass();
  ASSERT_EQ(each.size(), 4u);
  EXPECT_DOUBLE_EQ(each[1].precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(each[1].recall, 0.5);
  EXPECT_DOUBLE_EQ(each[1].f1, 4.0 / 7);
  EXPECT_EQ(each[2].precision, 0);
  EXPECT_EQ(each[3].f1, 0);
  metric.Reset();
  EXPECT_TRUE(std::isnan(metric.Value().recall));
}

TEST(MeanIouTest, AveragesClassesThatOccur) {
  MeanIou iou({.classes = 4, .ignore_label = 255});
  EXPECT_TRUE(std::isnan(iou.Value()));
  iou.Update(FromVector<int64_t>({0, 0, 1, 1, 1, 2, 0, 3}, {1, 2, 4}),
             FromVector<int64_t>({0, 0, 0, 1, 1, 1, 1, 255}, {1, 2, 4}));
  EXPECT_DOUBLE_EQ(iou.PerClass()[0], 2.0 / 4);
  EXPECT_DOUBLE_EQ(iou.PerClass()[1], 2.0 / 5);
  EXPECT_EQ(iou.PerClass()[2], 0);
  EXPECT_TRUE(std::isnan(iou.PerClass()[3]));
  EXPECT_DOUBLE_EQ(iou.Value(), 0.9 / 3);
  MeanIou sum({.classes = 4});
  sum.Merge(iou);
  EXPECT_DOUBLE_EQ(sum.Value(), 0.9 / 3);
  sum.Reset();
  EXPECT_TRUE(std::isnan(sum.Value()));
}

}  // namespace
}  // namespace firn::io

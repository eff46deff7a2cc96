// The bundled table against facts about it that scikit-learn's documentation and users know.
#include "firn/io/data/digits.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using testing::ElementsAre;

TEST(DigitsTest, HasTheKnownImagesAndLabels) {
  const DatasetPtr digits = Digits();
  ASSERT_EQ(digits->size(), 1797);
  std::vector<int64_t> all(1797);
  std::iota(all.begin(), all.end(), int64_t{0});
  const Sample batch = digits->GetBatch(all);
  EXPECT_EQ(batch.input.shape(), (Shape{1797, 1, 8, 8}));
  std::vector<int64_t> count(10);
  for (const int64_t label : batch.target.host_view<int64_t>()) ++count[static_cast<size_t>(label)];
  EXPECT_THAT(count, ElementsAre(178, 182, 177, 183, 181, 182, 181, 179, 174, 180));
  double sum = 0;
  for (const float v : batch.input.host_view<float>()) {
    EXPECT_TRUE(v >= 0 && v <= 1);
    sum += v * 16;
  }
  EXPECT_EQ(sum, 561718);  // load_digits().data.sum()
}

TEST(DigitsTest, SplitsIntoTrainingAndTest) {
  const DatasetPtr train = Digits({.part = DigitsOptions::Part::kTrain});
  const DatasetPtr test = Digits({.part = DigitsOptions::Part::kTest, .mean = 1, .stddev = 2});
  EXPECT_EQ(train->size(), 1500);
  EXPECT_EQ(test->size(), 297);
  const std::vector<float> first = Digits()->Get(1500).input.ToVector<float>();
  EXPECT_EQ(test->Get(0).input.ToVector<float>()[20], (first[20] - 1) / 2);
}

}  // namespace
}  // namespace firn::io

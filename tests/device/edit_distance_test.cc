#include "firn/device/edit_distance.h"

#include <gtest/gtest.h>

namespace firn::inner::internal {
namespace {

TEST(EditDistanceTest, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(EditDistance("conv", "conv"), 0u);
  EXPECT_EQ(EditDistance("conv", "conv1"), 1u);
  EXPECT_EQ(EditDistance("conv", "con"), 1u);
  EXPECT_EQ(EditDistance("conv", "cony"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("Saturday", "Sunday"), 3u);
}

TEST(EditDistanceTest, FromAndToNothingIsTheLength) {
  EXPECT_EQ(EditDistance("", ""), 0u);
  EXPECT_EQ(EditDistance("", "fc"), 2u);
  EXPECT_EQ(EditDistance("fc", ""), 2u);
}

TEST(EditDistanceTest, IsTheSameBothWays) {
  EXPECT_EQ(EditDistance("ab", "ba"), 2u);  // swapping is no edit of its own
  EXPECT_EQ(EditDistance("layer_norm", "batch_norm"), EditDistance("batch_norm", "layer_norm"));
}

}  // namespace
}  // namespace firn::inner::internal

#include "firn/device/edit_distance.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(EditDistanceTest, NamesComeByTheirNearness) {
  const std::vector<std::string> names = {"info", "inspect", "infer", "train", "tran"};
  EXPECT_EQ(NearestNames("trian", names, 2), (std::vector<std::string>{"tran", "train"}));
  EXPECT_EQ(NearestNames("trian", names, 9).size(), 5u);
  EXPECT_EQ(LikelyName("trian", names), "tran");
  EXPECT_EQ(LikelyName("infre", names), "info");
  EXPECT_EQ(LikelyName("compare", names), "");
  EXPECT_EQ(LikelyName("trian", {}), "");
  EXPECT_EQ(LikelyName(std::string(101, 'a'), {std::string(101, 'a')}), "");
}

TEST(EditDistanceTest, SaysWhatThereIsInstead) {
  EXPECT_EQ(InsteadOf("x", {}), "; there are none");
  EXPECT_EQ(InsteadOf("x", {"xy", "y"}), "; there are xy, y");
  EXPECT_EQ(InsteadOf("f", {"a", "b", "c", "d", "e", "ff"}),
            "; of 6 the nearest are a, b, c, d, e");
  // Names that are too long are not compared.
  EXPECT_EQ(InsteadOf("x", {std::string(101, 'x')}), "; of 1, none is like it");
}

}  // namespace
}  // namespace firn::inner::internal

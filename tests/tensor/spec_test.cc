#include "firn/tensor/spec.h"

#include "absl/types/span.h"
#include "firn/device/inner.h"
#include "gtest/gtest.h"

namespace firn {
namespace {

TensorSpec Nhwc(const Shape& shape) {
  return TensorSpec::Blocked(DType::kF32, shape, Device(), ChannelsLastBlock(shape));
}

TEST(SpecTest, NhwcIsABlockOfAllChannels) {
  EXPECT_EQ(ChannelsLastBlock({2, 300, 4, 5}), 300);
  EXPECT_EQ(ChannelsLastBlock({2, 6, 7}), 6);
  EXPECT_TRUE(Nhwc({2, 300, 4, 5}).dense());
  const int64_t want[] = {6000, 1, 1500, 300};
  EXPECT_EQ(StridesOf(Nhwc({2, 300, 4, 5})).span(), absl::MakeConstSpan(want));
}

// There a copy would change nothing, and the unblocked spec is simpler.
TEST(SpecTest, WhatIsNhwcInRowMajorOrderIsRowMajor) {
  for (const Shape& shape : {Shape{2, 1, 4, 5}, Shape{2, 6, 1, 1}, Shape{2, 6}, Shape{6}, Shape{},
                             Shape{0, 6, 4, 5}, Shape{2, 6, 0, 5}}) {
    EXPECT_EQ(ChannelsLastBlock(shape), 0) << shape;
    EXPECT_TRUE(Nhwc(shape).layout.contiguous) << shape;
  }
}

}  // namespace
}  // namespace firn

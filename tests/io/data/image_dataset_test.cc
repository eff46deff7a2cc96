// The conversion from bytes, and refused arguments.
#include <vector>

#include "firn/io/data/image_dataset_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace firn::io {
namespace {

using testing::HasSubstr;

Tensor AllBytes() {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<uint8_t>(i));
  return FromVector(bytes, {4, 2, 4, 8});
}

Tensor Labels() { return FromValues<int64_t>({3, 1, 4, 1}); }

TEST(ImageDatasetTest, DividesByTheScale) {
  const DatasetPtr images = MakeImageDataset(AllBytes(), Labels());
  EXPECT_EQ(images->size(), 4);
  const Sample batch = images->GetBatch({2, 0});
  EXPECT_EQ(batch.input.spec().ToString(), "f32 [2, 2, 4, 8] on cpu");
  EXPECT_EQ(batch.target.spec().ToString(), "i64 [2] on cpu");
  EXPECT_EQ(batch.target.ToVector<int64_t>(), (std::vector<int64_t>{4, 3}));
  for (int i = 0; i < 64; ++i) {
    const auto k = static_cast<size_t>(i);
    EXPECT_EQ(batch.input.host_view<float>()[k], static_cast<float>(128 + i) / 255.f);
    EXPECT_EQ(batch.input.host_view<float>()[64 + k], static_cast<float>(i) / 255.f);
  }
}

TEST(ImageDatasetTest, ASampleIsABatchOfOne) {
  const DatasetPtr images = MakeImageDataset(AllBytes(), Labels());
  const Sample one = images->Get(1), batch = images->GetBatch({1});
  EXPECT_EQ(one.input.shape(), (Shape{2, 4, 8}));
  EXPECT_EQ(one.target.shape(), Shape());
  EXPECT_EQ(one.input.ToVector<float>(), batch.input.ToVector<float>());
}

TEST(ImageDatasetTest, Normalises) {
  const DatasetPtr images =
      MakeImageDataset(AllBytes(), Labels(), {.scale = 16, .mean = 0.5, .stddev = 0.25});
  EXPECT_EQ(images->Get(0).input.host_view<float>()[20], (20 / 16.f - 0.5f) / 0.25f);
}

TEST(ImageDatasetTest, RefusesOtherTensors) {
  const auto error = [](const Tensor& pixels, const Tensor& labels, const PixelOptions& o = {}) {
    return std::string(TryMakeImageDataset(pixels, labels, o).status().message());
  };
  EXPECT_THAT(error(AllBytes().Reshape({4, 64}), Labels()), HasSubstr("got u8 [4, 64] on cpu"));
  EXPECT_THAT(error(Tensor(), Labels()), HasSubstr("got undefined"));
  EXPECT_THAT(error(AllBytes(), FromValues<int64_t>({1, 2})),
              HasSubstr("labels i64 [4], got i64 [2]"));
  EXPECT_THAT(error(AllBytes(), Labels(), {.stddev = 0}), HasSubstr("stddev 0"));
  EXPECT_THROW(MakeImageDataset(AllBytes(), Labels())->Get(4), Error);
}

}  // namespace
}  // namespace firn::io

#include "tests/io/data/transforms/pattern.h"

#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"

namespace firn::io {

Tensor Pattern(int64_t channels, int64_t height, int64_t width, int64_t times) {
  std::vector<uint8_t> values;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) {
        values.push_back(static_cast<uint8_t>((37 * c + 11 * y + 5 * x) % 256 * times % 256));
      }
    }
  }
  return FromVector(values, Shape{channels, height, width});
}

Tensor FloatPattern(int64_t channels, int64_t height, int64_t width, int64_t times) {
  return Pattern(channels, height, width, times).To(DType::kF32) / 255;
}

Tensor Bytes(int64_t rows, const std::vector<uint8_t>& values) {
  return FromVector(values, Shape{1, rows, static_cast<int64_t>(values.size()) / rows});
}

std::vector<int> ValuesOf(const Tensor& image) {
  EXPECT_EQ(image.dtype(), DType::kU8);
  return image.ToVector<int>();
}

std::vector<int> RowsOf(const Tensor& image, int64_t y, int64_t n) {
  const std::vector<int> all = ValuesOf(image);
  std::vector<int> rows;
  for (int64_t c = 0; c < image.size(0); ++c) {
    const int64_t start = (c * image.size(1) + y) * image.size(2);
    rows.insert(rows.end(), all.begin() + start, all.begin() + start + n);
  }
  return rows;
}

std::string Refusal(const Transform& transform, const Tensor& image) {
  RandomGenerator random(1);
  return firn::testing::ErrorOf([&] { transform(image, random); });
}

}  // namespace firn::io

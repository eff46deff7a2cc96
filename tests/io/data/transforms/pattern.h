#ifndef FIRN_TESTS_IO_DATA_TRANSFORMS_PATTERN_H_
#define FIRN_TESTS_IO_DATA_TRANSFORMS_PATTERN_H_

// Images whose numbers other programs can make from a formula, and functions that look at results.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/data/transforms/transform.h"
#include "firn/tensor/tensor.h"

namespace firn::io {

// u8 [channels, height, width]; sample (c, y, x) is ((37 c + 11 y + 5 x) % 256) * times % 256.
Tensor Pattern(int64_t channels, int64_t height, int64_t width, int64_t times = 1);
// The same as f32, divided by 255.
Tensor FloatPattern(int64_t channels, int64_t height, int64_t width, int64_t times = 1);

// u8 [1, rows, columns].
Tensor Bytes(int64_t rows, const std::vector<uint8_t>& values);

// The elements of a u8 image.
std::vector<int> ValuesOf(const Tensor& image);
// The first `n` elements of row `y` of each channel, one after the other.
std::vector<int> RowsOf(const Tensor& image, int64_t y, int64_t n);

// The error of the transform for an image, with a generator; "" if it takes the image.
std::string Refusal(const Transform& transform, const Tensor& image);

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_DATA_TRANSFORMS_PATTERN_H_

#ifndef FIRN_IO_DATA_TRANSFORMS_INTERNAL_ADJUST_H_
#define FIRN_IO_DATA_TRANSFORMS_INTERNAL_ADJUST_H_

// The bodies of color.h and tone.h, for images that are checked already; results are new images.

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn::io::internal {

Tensor Brightness(const Tensor& image, double factor, const char* who);
// Require: 1 or 3 channels.
Tensor Contrast(const Tensor& image, double factor, const char* who);
Tensor Saturation(const Tensor& image, double factor, const char* who);
Tensor Hue(const Tensor& image, double turn, const char* who);
Tensor Grey(const Tensor& image, int64_t channels, const char* who);

Tensor Sharpness(const Tensor& image, double factor, const char* who);

// Require: u8.
Tensor Posterized(const Tensor& image, int bits, const char* who);
Tensor Solarized(const Tensor& image, double threshold, const char* who);
Tensor AutoContrasted(const Tensor& image, const char* who);
Tensor Equalized(const Tensor& image, const char* who);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_TRANSFORMS_INTERNAL_ADJUST_H_

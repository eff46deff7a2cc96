#ifndef FIRN_TOOLS_FIRN_RESIZE_PICTURE_H_
#define FIRN_TOOLS_FIRN_RESIZE_PICTURE_H_

#include <cstdint>

#include "tensor/tensor.h"

namespace firn::cli {

enum class ResizeMode {
  kTrimming,  // cut what is too long off both sides first
  kPadding,   // add black to both sides of what is too short first
  kStretch,   // change the proportions
};

// A picture u8 [channels, height, width] in another size. Throws firn::Error where one of its
// sizes is 0.
// To be replaced by the library's transforms, once it has a resize.
Tensor ResizePicture(const Tensor& picture, int64_t height, int64_t width, ResizeMode mode);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_RESIZE_PICTURE_H_

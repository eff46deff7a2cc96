#ifndef FIRN_TOOLS_FIRN_FIT_PICTURE_H_
#define FIRN_TOOLS_FIRN_FIT_PICTURE_H_

// Pictures of any size in the size that a network takes, alike in training and afterwards.

#include <cstdint>
#include <string>

#include "firn/io/data/transforms/transform.h"

namespace firn::cli {

struct PictureFit {
  int64_t height = 0, width = 0;  // of the result
  // A picture keeps its proportions: it is resized until it just covers the result's size times
  // shorter / min(height, width), and the middle is cut out. For a square result its shorter side
  // then has `shorter` pixels, as by torchvision's Resize and CenterCrop. 0: it is stretched.
  int64_t shorter = 0;
  bool bicubic = false;  // else bilinear; both with antialias
};

// The function that does it. Throws firn::Error unless height and width are 1 to 2^20 and `shorter`
// is 0, or at least the smaller of both and such that no side gets more than 2^20 pixels.
io::Transform FitPicture(const PictureFit& fit);

// A text for people that says so, with the option of `firn forward` that does the same.
std::string FitText(const PictureFit& fit);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_FIT_PICTURE_H_

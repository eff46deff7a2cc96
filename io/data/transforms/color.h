#ifndef FIRN_IO_DATA_TRANSFORMS_COLOR_H_
#define FIRN_IO_DATA_TRANSFORMS_COLOR_H_

#include <cstdint>

#include "firn/io/data/transforms/transform.h"

namespace firn::io {

// Colours of images u8 (0 to 255) or f32 (0 to 1, to which results are clamped). u8 is computed as
// torchvision does with PIL images (Pillow's ImageEnhance: the fraction of a result is cut off),
// f32 as with tensors. Grey of u8 is (19595 R + 38470 G + 7471 B + 32768) / 65536, rounded down; of
// f32 0.2989 R + 0.587 G + 0.114 B.

// Each image times `factor`. Throws unless factor >= 0.
Transform AdjustBrightness(inner::Real factor);

// Each pixel's distance from the mean of the grey image (of u8 rounded to a whole number) times
// `factor`: 0 is plain grey, 1 the image as it is. 1 or 3 channels. Throws unless factor >= 0.
Transform AdjustContrast(inner::Real factor);

// Each pixel's distance from its own grey times `factor`: 0 is the grey image. 1 or 3 channels; of
// one nothing changes. Throws unless factor >= 0.
Transform AdjustSaturation(inner::Real factor);

// The hue turned by `turn` of the circle of colours, in HSV: 0.5 and -0.5 give the complement. 1 or
// 3 channels; of one nothing changes. u8 too is computed in f32, as torchvision does with tensors:
// the fraction of 255.999 times the result is cut off. Throws unless -0.5 <= turn <= 0.5.
Transform AdjustHue(inner::Real turn);

// The sharpness: each pixel's distance from an image blurred by 1/13 [1 1 1; 1 5 1; 1 1 1] times
// `factor`: 0 gives the blurred image, a factor above 1 a sharper one. Pixels at the border, and
// images of fewer than 3 rows or columns, stay as they are. Throws unless factor >= 0.
Transform AdjustSharpness(inner::Real factor);

struct ColorJitterOptions {
  // The factors of the functions above are uniform in [max(0, 1 - x), 1 + x], ...
  double brightness = 0, contrast = 0, saturation = 0;
  double hue = 0;  // ... and hue's turn in [-x, x]
};

// The four functions in an order drawn anew for each image; torchvision's ColorJitter. Functions
// whose number is 0 are left out. 1 or 3 channels. Throws unless the first three are finite and >=
// 0 and hue is 0 to 0.5.
Transform ColorJitter(const ColorJitterOptions& options);

struct GrayscaleOptions {
  int64_t channels = 1;  // 1, or 3 equal ones
};

// The grey image of one of 1 or 3 channels; torchvision's Grayscale. Throws unless channels is 1 or
// 3.
Transform Grayscale(const GrayscaleOptions& options = {});

struct RandomGrayscaleOptions {
  double p = 0.1;
};

// With probability p, the grey image in as many channels as before. Throws unless 0 <= p <= 1.
Transform RandomGrayscale(const RandomGrayscaleOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_TRANSFORMS_COLOR_H_

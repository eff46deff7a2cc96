#ifndef FIRN_TESTS_IO_IMAGE_IMAGE_TEST_FILES_H_
#define FIRN_TESTS_IO_IMAGE_IMAGE_TEST_FILES_H_

// Small image files that tests decode, made by the libraries themselves or by hand.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io {

// u8 [channels, height, width]; sample (c, y, x) is (37 c + 11 y + 5 x) % 256.
Tensor Ramp(int64_t channels, int64_t height, int64_t width);

// A GIF of `colors` grey levels (a power of two), pixel i being colour i % colors, on a canvas that
// is `border` pixels larger at each side. transparent: that colour's index, -1 for none.
std::string Gif(int width, int height, int colors, bool interlaced, int border = 0,
                int transparent = -1);

struct TiffOptions {
  uint16_t samples = 3, bits = 8, compression = 1, orientation = 1;
  bool tiled = false, white_is_zero = false;
};
// A TIFF whose bytes, in file order, count up from 0. Goes through a file called `name`.
std::string Tiff(const std::string& name, uint32_t width, uint32_t height,
                 const TiffOptions& options = {});

// A PNG of 2 bits, whose pixel i has colour i % 4 of black, red, green and a transparent blue.
std::string PalettePng(uint32_t width, uint32_t height, bool interlaced);

// A JPEG of 8 x 8 equal pixels of Adobe's CMYK, 255 minus the ink.
std::string CmykJpeg(uint8_t c, uint8_t m, uint8_t y, uint8_t k);

// A progressive JPEG of 16 x 16 grey pixels in 1 to 127 scans: one for the mean of the blocks, then
// one a coefficient, then one a coefficient for its last bit.
std::string JpegOfScans(int scans);

// A BMP of 24 bits, or, with `bits` 8, of a grey palette; sample of pixel i: i % 256.
std::string Bmp(int width, int height, int bits = 24);

// `jpeg` with an EXIF segment that asks for this orientation.
std::string WithOrientation(const std::string& jpeg, int orientation);

// One small file of each format, with its name.
std::vector<std::pair<std::string, std::string>> SmallImages();

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_IMAGE_IMAGE_TEST_FILES_H_

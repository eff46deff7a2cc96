#ifndef FIRN_IO_IMAGE_IMAGE_H_
#define FIRN_IO_IMAGE_IMAGE_H_

// Image files as tensors u8 [channels, height, width], and back:
//
//   Tensor photo = io::ReadImage("photo.jpg", {.color = io::ImageColor::kRgb});
//   io::WriteImage("photo.png", photo);

#include <cstdint>
#include <string>
#include <string_view>

#include "firn/tensor/tensor.h"

namespace firn::io {

enum class ImageColor {
  kAsStored,  // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; palettes and CMYK become RGB
  kGrey,      // 1 channel: (19595 R + 38470 G + 7471 B) / 65536, ITU-R BT.601's luma; a JPEG's own
  kRgb,       // 3 channels; alpha is left out
  kRgba,      // 4 channels; opaque where the image has no alpha
};

// Limits for one image. Its header is checked against them, and against the size of the file,
// before memory is taken for pixels.
struct ImageLimits {
  int64_t max_pixels = int64_t{1} << 27;
  // Bytes of one buffer of pixels; decoding uses up to three at a time, the library's included.
  int64_t max_bytes = int64_t{1} << 30;
  // Bytes of samples that one byte of the file may stand for, beyond the first 1 MiB. LZW and
  // deflate reach 2730 and 1032.
  int64_t max_expansion = 4096;
};

struct DecodeImageOptions {
  ImageColor color = ImageColor::kAsStored;
  // Images of 16 bits a sample (PNG, PNM, TIFF) become i32 of 0 .. 65535, not u8 of 0 .. 255; TIFFs
  // of YCbCr and CIE L*a*b* can be decoded to 8 bits only, and are Unimplemented with 16.
  bool keep_16_bits = false;
  // Turn and mirror as the EXIF data of a JPEG or the tag of a TIFF asks.
  bool orient = true;
  ImageLimits limits = {};
};

// The image in a PNG, JPEG, BMP, GIF, PNM (P1 to P6) or TIFF file of these bytes, told by the first
// of them: u8 [channels, height, width]. If there are several images, the first is read; for a GIF
// that is the first frame on a transparent canvas. Colours are not multiplied by alpha. TIFFs of
// YCbCr and CIE L*a*b* with alpha are not read. If a TIFF has bands beside the colours that it does
// not call alpha, kGrey, kRgb and kRgba leave them out, and kAsStored is Unimplemented. Throws
// firn::Error: DataLoss for a damaged or truncated image (all checksums are verified, and missing
// data are never made up), Unimplemented for legal images that are not read, naming their kind,
// ResourceExhausted beyond the limits.
Tensor DecodeImage(std::string_view bytes, const DecodeImageOptions& options = {});

// The same of a file, which the error names; NotFound and the like for the path.
Tensor ReadImage(const std::string& path, const DecodeImageOptions& options = {});

struct EncodePngOptions {
  int level = 6;  // of compression, 0 (none) to 9
};

struct EncodeJpegOptions {
  int quality = 90;          // 1 to 100
  bool halve_chroma = true;  // colour at half the resolution (4:2:0)
  bool progressive = false;
};

// A PNG file of an image [channels, height, width] with 1 to 4 channels as above, or [height,
// width]: u8, or i32 of 0 .. 65535, which gets 16 bits. Throws for another image.
std::string EncodePng(const Tensor& image, const EncodePngOptions& options = {});

// A JPEG file of an image u8 [1 or 3, height, width] or [height, width]. Throws for another image.
std::string EncodeJpeg(const Tensor& image, const EncodeJpegOptions& options = {});

// Writes a file whose format the end of its name tells: .png, .jpg or .jpeg. What was at `path`
// before is replaced as a whole or, when this throws, unharmed. It does not wait for the disk, as
// checkpoints do: a power cut some seconds later may leave an empty file.
void WriteImage(const std::string& path, const Tensor& image, const EncodeJpegOptions& jpeg = {},
                const EncodePngOptions& png = {});

}  // namespace firn::io

#endif  // FIRN_IO_IMAGE_IMAGE_H_

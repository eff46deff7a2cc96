#ifndef FIRN_IO_IMAGE_INTERNAL_RASTER_H_
#define FIRN_IO_IMAGE_INTERNAL_RASTER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/image/image.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

constexpr int64_t kFreeBytes = int64_t{1} << 20;  // that a file of any size may expand to

// An image file in memory and the options for decoding it. All members are views that must outlive
// the decoding.
struct EncodedImage {
  std::string_view bytes;
  const std::string& name;
  const DecodeImageOptions& options;

  const unsigned char* data() const { return reinterpret_cast<const unsigned char*>(bytes.data()); }
  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
};

// Decoded pixels as libraries give them: rows from the top, samples of a pixel side by side, either
// bytes or 16 bits in the machine's order. Thread-compatible.
struct Raster {
  int64_t width = 0, height = 0;
  int channels = 0;     // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  bool wide = false;    // 16 bits a sample
  int orientation = 1;  // of EXIF, 1 to 8: how to turn it for display
  Tensor samples = {};  // u8, uninitialised until a decoder fills it

  int64_t row_bytes() const { return width * channels * (wide ? 2 : 1); }
  unsigned char* row(int64_t y) const;
};

// Takes the memory for an image of width x height pixels, of which the file has `stored_bits` each.
// Errors: DataLoss when a side is not positive or the file is too short to hold it,
// ResourceExhausted beyond the limits.
absl::StatusOr<Raster> MakeRaster(const EncodedImage& file, int64_t width, int64_t height,
                                  int channels, bool wide, int64_t stored_bits);

// The raster as [channels, height, width], in the wanted colour and orientation.
absl::StatusOr<Tensor> RasterToTensor(const Raster& raster, const DecodeImageOptions& options);

// The light of a colour that black ink leaves; both numbers are light, 0 to 255. CMYK of every
// format is converted to RGB by this.
constexpr unsigned char Light(int color, int black) {
  return static_cast<unsigned char>((color * black + 127) / 255);
}

// One decoder a format. Errors: those of DecodeImage, with the file's name.
absl::StatusOr<Raster> DecodePng(const EncodedImage& file);
absl::StatusOr<Raster> DecodeJpeg(const EncodedImage& file);
absl::StatusOr<Raster> DecodeGif(const EncodedImage& file);
absl::StatusOr<Raster> DecodeTiff(const EncodedImage& file);
absl::StatusOr<Raster> DecodeBmp(const EncodedImage& file);
absl::StatusOr<Raster> DecodePnm(const EncodedImage& file);

// "<name>: <format>: <what>" as DataLoss, for a library's message.
absl::Status DamagedImage(const EncodedImage& file, const char* format, std::string_view what);
// "<name>: <format>: <what> is not supported" as Unimplemented, for legal files that are not read.
absl::Status UnreadImage(const EncodedImage& file, const char* format, std::string_view what);

// The orientation in the EXIF block of a JPEG's APP1 segment; 1 if it has none or is damaged, since
// that does not affect the pixels.
int ExifOrientation(std::string_view segment);

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_RASTER_H_

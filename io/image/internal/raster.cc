// The one place where an image's size becomes an allocation, and where samples side by side become
// planes. Conversion goes row by row through one row of planes of at most four channels.
#include "firn/io/image/internal/raster.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"

namespace firn::io::internal {
namespace {

int WantedChannels(const Raster& raster, ImageColor color) {
  switch (color) {
    case ImageColor::kGrey:
      return 1;
    case ImageColor::kRgb:
      return 3;
    case ImageColor::kRgba:
      return 4;
    case ImageColor::kAsStored:
      break;
  }
  return raster.channels;
}

template <class T>
uint32_t Luma(const T* p) {
  return static_cast<uint32_t>(
      (uint64_t{p[0]} * 19595 + uint64_t{p[1]} * 38470 + uint64_t{p[2]} * 7471 + 0x8000) >> 16);
}

// Channel `c` of the wanted `to` channels, of a pixel of `from` channels whose maximum is `max`.
template <class T>
uint32_t Channel(const T* p, int from, int to, int c, uint32_t max) {
  const bool grey = from < 3, alpha = from % 2 == 0;
  if (from == to) return p[c];
  if (to == 1) return grey ? p[0] : Luma(p);
  if (c == 3) return alpha ? p[from - 1] : max;
  return grey ? p[0] : p[c];
}

// Where the pixel (x, y) of the stored image goes in the turned one: offset and step along x.
struct Placement {
  int64_t start, step;
};

// EXIF 2.3, tag 274: which sides of the picture the stored row 0 and column 0 are.
Placement PlaceRow(int orientation, int64_t y, int64_t width, int64_t height) {
  switch (orientation) {
    case 2:  // mirrored
      return {y * width + width - 1, -1};
    case 3:  // turned by 180 degrees
      return {(height - 1 - y) * width + width - 1, -1};
    case 4:  // upside down
      return {(height - 1 - y) * width, 1};
    case 5:  // transposed
      return {y, height};
    case 6:  // to be turned clockwise
      return {height - 1 - y, height};
    case 7:  // transposed along the other diagonal
      return {(width - 1) * height + height - 1 - y, -height};
    case 8:  // to be turned counter-clockwise
      return {(width - 1) * height + y, -height};
    default:
      return {y * width, 1};
  }
}

// `narrow`: from 16 to 8 bits, v / 257 rounded.
template <class From, class To>
void FillPlanes(const Raster& raster, int channels, int orientation, bool narrow, To* out) {
  const uint32_t max = sizeof(From) == 2 ? 65535 : 255;
  for (int64_t y = 0; y < raster.height; ++y) {
    const Placement place = PlaceRow(orientation, y, raster.width, raster.height);
    for (int c = 0; c < channels; ++c) {
      const auto* p = reinterpret_cast<const From*>(raster.row(y));
      To* to = out + c * raster.width * raster.height + place.start;
      for (int64_t x = 0; x < raster.width; ++x, p += raster.channels, to += place.step) {
        const uint32_t v = Channel(p, raster.channels, channels, c, max);
        *to = static_cast<To>(narrow ? (v * 255 + 32895) >> 16 : v);
      }
    }
  }
}

// The common case: bytes, channels as they are or the first three of four, not turned.
void FillBytes(const Raster& raster, int channels, uint8_t* out) {
  const int64_t plane = raster.width * raster.height;
  const uint8_t* p = raster.row(0);
  if (channels == 3 && raster.channels == 3) {
    for (int64_t i = 0; i < plane; ++i, p += 3) {
      out[i] = p[0];
      out[i + plane] = p[1];
      out[i + 2 * plane] = p[2];
    }
    return;
  }
  for (int64_t i = 0; i < plane; ++i, p += raster.channels) {
    for (int c = 0; c < channels; ++c) out[c * plane + i] = p[c];
  }
}

}  // namespace

unsigned char* Raster::row(int64_t y) const {
  return reinterpret_cast<unsigned char*>(samples.impl()->data) + y * row_bytes();
}

absl::Status DamagedImage(const EncodedImage& file, const char* format, std::string_view what) {
  return DataLoss(file.name, ": ", format, ": ", what);
}

absl::Status UnreadImage(const EncodedImage& file, const char* format, std::string_view what) {
  return Unimplemented(file.name, ": ", format, ": ", what, " is not supported");
}

absl::StatusOr<Raster> MakeRaster(const EncodedImage& file, int64_t width, int64_t height,
                                  int channels, bool wide, int64_t stored_bits) {
  const ImageLimits& limits = file.options.limits;
  FIRN_RETURN_IF(
      width <= 0 || height <= 0,
      DataLoss(file.name, ": size: expected at least 1 x 1 pixels, got ", width, " x ", height));
  FIRN_RETURN_IF(
      width > limits.max_pixels / height,
      ResourceExhausted(file.name, ": size: ", width, " x ", height, " pixels are more than the ",
                        limits.max_pixels, " allowed (limits.max_pixels)"));
  // Up to 2^31 x 2^31 pixels are possible only if max_pixels was raised to that.
  const __int128 pixels = static_cast<__int128>(width) * height;
  // Elements of the result may be i32.
  const int most = std::max(channels, 4) * (wide && file.options.keep_16_bits ? 4 : wide ? 2 : 1);
  FIRN_RETURN_IF(pixels * most > limits.max_bytes,
                 ResourceExhausted(file.name, ": size: ", width, " x ", height, " pixels of ", most,
                                   " bytes are more than the ", limits.max_bytes,
                                   " bytes allowed (limits.max_bytes)"));
  FIRN_RETURN_IF(
      pixels * stored_bits / 8 >
          kFreeBytes + static_cast<__int128>(file.size()) * limits.max_expansion,
      DataLoss(file.name, ": size: ", width, " x ", height, " pixels of ", stored_bits,
               " bits cannot lie in a file of ", file.size(), " bytes (limits.max_expansion)"));
  Raster raster{.width = width, .height = height, .channels = channels, .wide = wide};
  FIRN_ASSIGN_OR_RETURN(
      raster.samples,
      AllocateTensor(
          TensorSpec::Contiguous(DType::kU8, Shape{height * raster.row_bytes()}, Device::Cpu()),
          AllocTag::kOther));
  return raster;
}

absl::StatusOr<Tensor> RasterToTensor(const Raster& raster, const DecodeImageOptions& options) {
  const int channels = WantedChannels(raster, options.color);
  const int orientation = options.orient ? raster.orientation : 1;
  const bool turned = orientation >= 5;
  const bool keep = raster.wide && options.keep_16_bits;
  const Shape shape{channels, turned ? raster.width : raster.height,
                    turned ? raster.height : raster.width};
  FIRN_ASSIGN_OR_RETURN(
      Tensor image,
      AllocateTensor(TensorSpec::Contiguous(keep ? DType::kI32 : DType::kU8, shape, Device::Cpu()),
                     AllocTag::kOther));
  void* out = image.impl()->data;
  const bool plain = orientation == 1 && !raster.wide &&
                     (channels == raster.channels || (channels == 3 && raster.channels == 4));
  if (plain) {
    FillBytes(raster, channels, static_cast<uint8_t*>(out));
  } else if (keep) {
    FillPlanes<uint16_t>(raster, channels, orientation, false, static_cast<int32_t*>(out));
  } else if (raster.wide) {
    FillPlanes<uint16_t>(raster, channels, orientation, true, static_cast<uint8_t*>(out));
  } else {
    FillPlanes<uint8_t>(raster, channels, orientation, false, static_cast<uint8_t*>(out));
  }
  return image;
}

}  // namespace firn::io::internal

// Formats are told by their first bytes, never by names; formats that are not read are recognised
// too, so that the error does not call such a file damaged.
#include "firn/io/image/image.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/image_status.h"
#include "firn/io/image/internal/encode_image.h"
#include "firn/io/image/internal/raster.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::EncodedImage;
using internal::Raster;

struct Format {
  std::string_view signature;
  absl::StatusOr<Raster> (*decode)(const EncodedImage& file);
};

constexpr Format kFormats[] = {
    {{"\x89PNG\r\n\x1a\n", 8}, internal::DecodePng},
    {"\xff\xd8\xff", internal::DecodeJpeg},
    {"GIF87a", internal::DecodeGif},
    {"GIF89a", internal::DecodeGif},
    {{"II*\0", 4}, internal::DecodeTiff},
    {{"MM\0*", 4}, internal::DecodeTiff},
    {"BM", internal::DecodeBmp},
    {"P1", internal::DecodePnm},
    {"P2", internal::DecodePnm},
    {"P3", internal::DecodePnm},
    {"P4", internal::DecodePnm},
    {"P5", internal::DecodePnm},
    {"P6", internal::DecodePnm},
};

struct Unread {
  size_t at;
  std::string_view signature;
  const char* name;
};

constexpr Unread kUnread[] = {
    {8, "WEBP", "WebP"},
    {4, "ftypavif", "AVIF"},
    {4, "ftypavis", "AVIF"},
    {4, "ftyphei", "HEIF"},
    {4, "ftyphev", "HEIF"},
    {4, "ftypmif1", "HEIF"},
    {4, "ftypmsf1", "HEIF"},
    {4, "jP  \r\n\x87\n", "JPEG 2000"},
    {0, "\xff\x4f\xff\x51", "JPEG 2000"},
    {4, "JXL \r\n\x87\n", "JPEG XL"},
    {0, "\xff\x0a", "JPEG XL"},
    {0, {"II+\0", 4}, "BigTIFF"},
    {0, {"MM\0+", 4}, "BigTIFF"},
    {0, "P7", "PAM, the P7 of PNM,"},
    {0, "Pf", "PFM, floats as PNM,"},
    {0, "PF", "PFM, floats as PNM,"},
    {0, "\x8aMNG\r\n\x1a\n", "MNG"},
    {0, "\x8bJNG\r\n\x1a\n", "JNG"},
    {0, {"\0\0\1\0", 4}, "ICO"},
    // Without a palette, of colours or grey, packed or not; CUR has how many there are in its
    // place.
    {0, {"\0\0\2\0\0\0\0\0", 8}, "TGA"},
    {0, {"\0\0\3\0\0\0\0\0", 8}, "TGA"},
    {0, {"\0\0\x0a\0\0\0\0\0", 8}, "TGA"},
    {0, {"\0\0\x0b\0\0\0\0\0", 8}, "TGA"},
    {0, {"\0\1\1\0", 4}, "TGA"},
    {0, {"\0\1\x09\0", 4}, "TGA"},
    {0, {"\0\0\2\0", 4}, "CUR"},
    {0, "icns", "ICNS"},
    {0, "\x0a\x05\x01", "PCX"},
    {0, "II\xbc", "JPEG XR"},
    {128, "DICM", "DICOM"},
    {4, "ftyp", "video"},
    {0, "8BPS", "Photoshop's format"},
    {0, "gimp xcf", "XCF"},
    {0, "qoif", "QOI"},
    {0, "DDS ", "DDS"},
    {0, "\x76\x2f\x31\x01", "OpenEXR"},
    {0, "#?RADIANCE", "Radiance HDR"},
    {0, "#?RGBE", "Radiance HDR"},
    {0, "BA", "OS/2's array of bitmaps"},
    {0, "<svg", "SVG"},
    {0, "<?xml", "XML"},
    {0, "%PDF-", "PDF"},
    {0, "%!PS", "PostScript"},
    {0, "/* XPM */", "XPM"},
    {0, "SIMPLE  =", "FITS"},
    {0, "\x59\xa6\x6a\x95", "Sun's raster"},
    {0, "\x01\xda", "SGI's format"},
};

bool Has(std::string_view bytes, const Unread& format) {
  const bool riff = format.at != 8 || bytes.starts_with("RIFF");
  return riff && bytes.size() >= format.at && bytes.substr(format.at).starts_with(format.signature);
}

absl::StatusOr<Raster> Decode(const EncodedImage& file) {
  for (const Format& format : kFormats) {
    if (file.bytes.starts_with(format.signature)) return format.decode(file);
  }
  for (const Unread& format : kUnread) {
    FIRN_RETURN_IF(Has(file.bytes, format),
                   Unimplemented(file.name, ": ", format.name, " is not supported"));
  }
  std::string start;
  for (size_t i = 0; i < std::min<size_t>(file.bytes.size(), 4); ++i) {
    absl::StrAppend(&start, i > 0 ? " " : "",
                    absl::Hex(static_cast<unsigned char>(file.bytes[i]), absl::kZeroPad2));
  }
  return Damaged(file.name, 0, "signature",
                 absl::StrCat("expected PNG, JPEG, GIF, TIFF, BMP or PNM, got ",
                              start.empty() ? "an empty file" : "bytes " + start));
}

absl::Status CheckLimits(const DecodeImageOptions& options) {
  const ImageLimits& l = options.limits;
  FIRN_RETURN_IF(
      l.max_pixels < 1 || l.max_bytes < 1 || l.max_expansion < 1,
      InvalidArgument("limits are max_pixels ", l.max_pixels, ", max_bytes ", l.max_bytes,
                      " and max_expansion ", l.max_expansion, " (want >= 1)"));
  return absl::OkStatus();
}

// The image's samples side by side. Checks its form.
absl::StatusOr<Raster> Interleave(const Tensor& image, bool jpeg) {
  FIRN_RETURN_IF(
      !image.defined() || image.rank() < 2 || image.rank() > 3,
      InvalidArgument("expected an image [channels, height, width] or [height, width], "
                      "got ",
                      image.defined() ? image.spec().ToString() : "an undefined tensor"));
  const int64_t channels = image.rank() == 3 ? image.size(0) : 1;
  const int64_t max_side = jpeg ? 65500 : 0x7fffffff;  // JPEG_MAX_DIMENSION, PNG's own
  Raster raster{.width = image.size(-1), .height = image.size(-2)};
  const bool bytes = image.dtype() == DType::kU8;
  FIRN_RETURN_IF(
      channels < 1 || channels > 4 || (jpeg && channels % 2 == 0) || raster.width < 1 ||
          raster.height < 1 || raster.width > max_side || raster.height > max_side ||
          (!bytes && (jpeg || image.dtype() != DType::kI32)),
      InvalidArgument("expected ",
                      jpeg ? "u8 with 1 or 3 channels" : "u8 or i32 with 1 to 4 channels",
                      " and sides of 1 to ", max_side, ", got ", image.spec().ToString()));
  raster.channels = static_cast<int>(channels);
  raster.wide = !bytes;
  FIRN_ASSIGN_OR_RETURN(
      raster.samples,
      AllocateTensor(TensorSpec::Contiguous(DType::kU8, Shape{raster.height * raster.row_bytes()},
                                            Device::Cpu()),
                     AllocTag::kOther));
  const int64_t plane = raster.width * raster.height;
  unsigned char* out = raster.row(0);
  for (int64_t c = 0; c < channels; ++c) {
    if (bytes) {
      const uint8_t* from = image.host_view<uint8_t>().data() + c * plane;
      for (int64_t i = 0; i < plane; ++i) out[i * channels + c] = from[i];
      continue;
    }
    const int32_t* from = image.host_view<int32_t>().data() + c * plane;
    for (int64_t i = 0; i < plane; ++i) {
      FIRN_RETURN_IF(from[i] < 0 || from[i] > 65535,
                     InvalidArgument("expected samples of 0 to 65535, got ", from[i]));
      reinterpret_cast<uint16_t*>(out)[i * channels + c] = static_cast<uint16_t>(from[i]);
    }
  }
  return raster;
}

absl::StatusOr<std::string> Png(const Tensor& image, const EncodePngOptions& options) {
  FIRN_RETURN_IF(options.level < 0 || options.level > 9,
                 InvalidArgument("expected a level of 0 to 9, got ", options.level));
  FIRN_ASSIGN_OR_RETURN(const Raster raster, Interleave(image, false));
  return internal::EncodePng(raster, options);
}

absl::StatusOr<std::string> Jpeg(const Tensor& image, const EncodeJpegOptions& options) {
  FIRN_RETURN_IF(options.quality < 1 || options.quality > 100,
                 InvalidArgument("expected a quality of 1 to 100, got ", options.quality));
  FIRN_ASSIGN_OR_RETURN(const Raster raster, Interleave(image, true));
  return internal::EncodeJpeg(raster, options);
}

}  // namespace

absl::StatusOr<Tensor> TryParseImage(std::string_view bytes, const std::string& name,
                                     const DecodeImageOptions& options) {
  FIRN_RETURN_IF_ERROR(CheckLimits(options));
  FIRN_ASSIGN_OR_RETURN(const Raster raster,
                        Decode(EncodedImage{.bytes = bytes, .name = name, .options = options}));
  return internal::RasterToTensor(raster, options);
}

absl::StatusOr<Tensor> TryReadImage(const std::string& path, const DecodeImageOptions& options) {
  FIRN_RETURN_IF_ERROR(CheckLimits(options));
  FIRN_ASSIGN_OR_RETURN(const auto file, RandomAccess::Open(path));
  FIRN_RETURN_IF(file->size() > options.limits.max_bytes,
                 ResourceExhausted(path, ": a file of ", file->size(), " bytes, more than the ",
                                   options.limits.max_bytes, " bytes allowed (limits.max_bytes)"));
  std::string bytes(static_cast<size_t>(file->size()), '\0');
  FIRN_RETURN_IF_ERROR(file->ReadAt(0, bytes.data(), file->size(), "image"));
  return TryParseImage(bytes, path, options);
}

Tensor DecodeImage(std::string_view bytes, const DecodeImageOptions& options) {
  return ValueOrRaise(TryParseImage(bytes, "image", options), "decode_image");
}

Tensor ReadImage(const std::string& path, const DecodeImageOptions& options) {
  return ValueOrRaise(TryReadImage(path, options), "read_image");
}

std::string EncodePng(const Tensor& image, const EncodePngOptions& options) {
  return ValueOrRaise(Png(image, options), "encode_png");
}

std::string EncodeJpeg(const Tensor& image, const EncodeJpegOptions& options) {
  return ValueOrRaise(Jpeg(image, options), "encode_jpeg");
}

void WriteImage(const std::string& path, const Tensor& image, const EncodeJpegOptions& jpeg,
                const EncodePngOptions& png) {
  std::string name = path;
  absl::AsciiStrToLower(&name);
  const auto ends = [&](const char* end) { return std::string_view(name).ends_with(end); };
  if (!ends(".png") && !ends(".jpg") && !ends(".jpeg")) {
    RaiseStatus(InvalidArgument(path, ": expected a name that ends in .png, .jpg or .jpeg"),
                "write_image");
  }
  const std::string bytes = ends(".png") ? EncodePng(image, png) : EncodeJpeg(image, jpeg);
  RaiseIfError(inner::internal::ReplaceFile(path, bytes, inner::internal::WaitFor::kNothing),
               "write_image");
}

}  // namespace firn::io

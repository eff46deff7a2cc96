// The first image of a TIFF. tiff_directory reads its description, tiff_data unpacks strips and
// tiles, and this file decides which kinds are read and turns their samples into bytes side by
// side: grey, RGB, palettes and CMYK as they are, in strips or tiles, side by side or in planes.
// YCbCr and CIE L*a*b* are converted by libtiff, which reads neither with alpha.
//
// Samples beside the colours are alpha where the file says so (ExtraSamples 1 or 2), else bands of
// unknown meaning, which are left out if only colours were asked for.
#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/internal/raster.h"
#include "firn/io/image/internal/tiff_data.h"
#include "firn/io/image/internal/tiff_directory.h"

namespace firn::io::internal {
namespace {

using Directory = TiffDirectory;

struct Kind {
  int colors = 1;          // of the samples of a pixel
  int kept = 1;            // the first so many samples
  bool palette = false;    // the sample is the number of a colour
  bool inks = false;       // CMYK
  bool converted = false;  // by libtiff
  int channels() const { return palette || inks ? 3 : converted ? 4 : kept; }
};

template <class... Parts>
absl::Status Unread(const EncodedImage& file, const Parts&... parts) {
  return UnreadImage(file, "TIFF", absl::StrCat(parts...));
}

template <class... Parts>
absl::Status Bad(const EncodedImage& file, const Parts&... parts) {
  return DamagedImage(file, "TIFF", absl::StrCat(parts...));
}

absl::Status CheckCompression(const EncodedImage& file, const Directory& d) {
  const bool fax = d.compression >= COMPRESSION_CCITTRLE && d.compression <= COMPRESSION_CCITTFAX4;
  switch (d.compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
    case COMPRESSION_LZW:
    case COMPRESSION_JPEG:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_PACKBITS:
      break;
    default:
      return Unread(file, "compression ", d.compression);
  }
  constexpr uint32_t kUncompressedMode = 2;
  const uint32_t options = d.compression == COMPRESSION_CCITTFAX3   ? d.t4_options
                           : d.compression == COMPRESSION_CCITTFAX4 ? d.t6_options
                                                                    : 0;
  FIRN_RETURN_IF((options & kUncompressedMode) != 0,
                 Unread(file, "a fax with pieces that are not compressed"));
  FIRN_RETURN_IF(fax && (d.bits != 1 || d.samples_in_segment() != 1),
                 Bad(file, "a fax of ", d.samples, " samples of ", d.bits, " bits"));
  return absl::OkStatus();
}

absl::Status CheckSamples(const EncodedImage& file, const Directory& d) {
  switch (d.format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:  // not said, which readers take for numbers without a sign
      break;
    case SAMPLEFORMAT_INT:
      return Unread(file, "samples that are integers with a sign");
    case SAMPLEFORMAT_IEEEFP:
      return Unread(file, "samples that are floats");
    case SAMPLEFORMAT_COMPLEXINT:
    case SAMPLEFORMAT_COMPLEXIEEEFP:
      return Unread(file, "samples that are complex");
    default:
      return Bad(file, "sample format ", d.format);
  }
  const bool known = d.bits == 1 || d.bits == 2 || d.bits == 4 || d.bits == 8 || d.bits == 16;
  FIRN_RETURN_IF(!known, Unread(file, "samples of ", d.bits, " bits"));
  return absl::OkStatus();
}

absl::StatusOr<Kind> ColorsOf(const EncodedImage& file, const Directory& d) {
  switch (d.photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
      return Kind{.colors = 1};
    case PHOTOMETRIC_RGB:
      return Kind{.colors = 3};
    case PHOTOMETRIC_PALETTE:
      FIRN_RETURN_IF(d.bits > 8, Unread(file, "a palette of ", d.bits, " bits"));
      FIRN_RETURN_IF(
          d.color_map.size() != size_t{3} << d.bits,
          Bad(file, "a palette of ", d.color_map.size(), " numbers, expected ", 3 << d.bits));
      return Kind{.colors = 1, .palette = true};
    case PHOTOMETRIC_SEPARATED:
      FIRN_RETURN_IF(d.bits != 8 || d.ink_set != INKSET_CMYK,
                     Unread(file, "inks of ", d.bits, " bits and set ", d.ink_set));
      return Kind{.colors = 4, .inks = true};
    case PHOTOMETRIC_YCBCR:
    case PHOTOMETRIC_CIELAB:
      return Kind{.colors = static_cast<int>(std::min<uint32_t>(d.samples, 3)), .converted = true};
    default:
      return Unread(file, "photometric interpretation ", d.photometric);
  }
}

// Which of the samples become channels.
absl::StatusOr<Kind> KindOf(const EncodedImage& file, const Directory& d) {
  FIRN_RETURN_IF_ERROR(CheckSamples(file, d));
  FIRN_RETURN_IF_ERROR(CheckCompression(file, d));
  FIRN_ASSIGN_OR_RETURN(Kind kind, ColorsOf(file, d));
  const auto colors = static_cast<uint32_t>(kind.colors);
  FIRN_RETURN_IF(d.samples < colors, Bad(file, d.samples, " samples of ", colors, " colours"));
  const auto is_alpha = [](uint64_t extra) { return extra == 1 || extra == 2; };
  const auto& extra = d.extra_samples;
  const bool alpha = !extra.empty() && is_alpha(extra[0]);
  const bool other_alpha = !alpha && std::any_of(extra.begin(), extra.end(), is_alpha);
  const uint32_t known = colors + (alpha ? 1 : 0);
  const ImageColor wanted = file.options.color;
  const bool chosen = wanted == ImageColor::kGrey || wanted == ImageColor::kRgb ||
                      (wanted == ImageColor::kRgba && !other_alpha);
  const char* advice = kind.converted ? "" : " (color = kRgb or kGrey leaves them out)";
  FIRN_RETURN_IF(d.samples > known && (!chosen || kind.converted),
                 Unread(file, d.samples, " samples a pixel, of which ", d.samples - known,
                        " are neither colours nor alpha", advice));
  // For one of the two the library says so; the other it calls damaged.
  FIRN_RETURN_IF(kind.converted && alpha, Unread(file, "YCbCr or CIE L*a*b* with alpha"));
  const bool opaque = wanted == ImageColor::kGrey || wanted == ImageColor::kRgb;
  FIRN_RETURN_IF((kind.palette || kind.inks) && alpha && !opaque,
                 Unread(file, "a palette or inks with alpha"));
  const bool keeps_alpha =
      alpha && !kind.palette && !kind.inks && (d.samples == known || wanted == ImageColor::kRgba);
  kind.kept = kind.colors + (keeps_alpha ? 1 : 0);
  return kind;
}

// Puts samples of segments in their places.
class Assembler {
 public:
  Assembler(const EncodedImage& file, const Directory& d, const Kind& kind, const Raster& raster)
      : d_(d), kind_(kind), raster_(raster), data_(file, d) {
    if (kind.palette) MakePalette();
  }

  absl::Status Run() {
    const int64_t across = d_.segments_across(), down = d_.segments_down();
    const int64_t planes = d_.planar() ? kind_.kept : 1;
    const bool direct = !d_.tiled && !d_.planar() && d_.bits >= 8 && !kind_.palette &&
                        !kind_.inks && d_.samples == static_cast<uint32_t>(kind_.kept);
    std::vector<unsigned char> buffer;
    if (!direct) buffer.resize(static_cast<size_t>(d_.segment_row_bytes() * d_.segment_height));
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t i = 0; i < across * down; ++i) {
        const int64_t x = i % across * d_.segment_width, y = i / across * d_.segment_height;
        const int64_t rows = std::min<int64_t>(d_.segment_height, d_.height - y);
        const int64_t stored = d_.tiled ? d_.segment_height : rows;
        unsigned char* to = direct ? raster_.row(y) : buffer.data();
        const auto segment = static_cast<uint32_t>(plane * across * down + i);
        FIRN_RETURN_IF_ERROR(data_.Read(segment, to, stored * d_.segment_row_bytes()));
        if (!direct) Place(to, x, y, rows, static_cast<int>(plane));
      }
    }
    return absl::OkStatus();
  }

 private:
  void Place(const unsigned char* from, int64_t x, int64_t y, int64_t rows, int plane) {
    const int64_t width = std::min<int64_t>(d_.segment_width, d_.width - x);
    for (int64_t r = 0; r < rows; ++r, from += d_.segment_row_bytes()) {
      unsigned char* row = raster_.row(y + r);
      if (kind_.inks) {
        Inks(from, row, x, width, plane);
      } else if (d_.bits == 16) {
        Whole(from, reinterpret_cast<uint16_t*>(row), x, width, plane);
      } else if (d_.bits == 8 && !kind_.palette) {
        Whole(from, row, x, width, plane);
      } else {
        Small(from, row, x, width, plane);
      }
    }
  }

  // Samples of one or two bytes, as they are.
  template <class T>
  void Whole(const unsigned char* from, T* row, int64_t x, int64_t width, int plane) const {
    const int64_t stride = d_.samples_in_segment(), channels = raster_.channels;
    const int copied = d_.planar() ? 1 : kind_.kept;
    if (copied == channels && stride == channels) {
      std::memcpy(row + x * channels, from, static_cast<size_t>(width * channels) * sizeof(T));
      return;
    }
    T* to = row + x * channels + plane;
    for (int64_t i = 0; i < width; ++i, to += channels, from += stride * int64_t{sizeof(T)}) {
      for (int c = 0; c < copied; ++c) std::memcpy(to + c, from + c * sizeof(T), sizeof(T));
    }
  }

  // Samples of 1, 2 or 4 bits, or numbers of colours.
  void Small(const unsigned char* from, unsigned char* row, int64_t x, int64_t width,
             int plane) const {
    const int64_t stride = d_.samples_in_segment(), channels = raster_.channels;
    const int copied = d_.planar() ? 1 : kind_.kept;
    const auto bits = static_cast<int>(d_.bits);
    const int max = (1 << bits) - 1, scale = 255 / max;
    for (int64_t i = 0; i < width; ++i) {
      unsigned char* to = row + (x + i) * channels + plane;
      for (int c = 0; c < copied; ++c) {
        const int64_t bit = (i * stride + c) * bits;
        const int v = from[bit / 8] >> (8 - bits - bit % 8) & max;
        if (kind_.palette) {
          std::memcpy(to, palette_ + 3 * v, 3);
        } else {
          to[c] = static_cast<unsigned char>(v * scale);
        }
      }
    }
  }

  // Each ink takes away from the light that black leaves, so their order does not matter; a pixel
  // is white until the first plane comes.
  void Inks(const unsigned char* from, unsigned char* row, int64_t x, int64_t width, int plane) {
    for (int64_t i = 0; i < width; ++i) {
      unsigned char* to = row + (x + i) * 3;
      if (!d_.planar()) {
        const unsigned char* p = from + i * d_.samples;
        for (int c = 0; c < 3; ++c) to[c] = Light(255 - p[c], 255 - p[3]);
      } else if (plane < 3) {
        to[plane] = static_cast<unsigned char>(255 - from[i]);
      } else {
        for (int c = 0; c < 3; ++c) to[c] = Light(to[c], 255 - from[i]);
      }
    }
  }

  // Palettes have 16 bits a colour; some old writers store bytes, which is assumed if all numbers
  // are below 256.
  void MakePalette() {
    const size_t n = size_t{1} << d_.bits;
    const bool bytes =
        std::all_of(d_.color_map.begin(), d_.color_map.end(), [](uint64_t v) { return v < 256; });
    for (size_t i = 0; i < 3 * n; ++i) {
      const uint64_t v = d_.color_map[i % 3 * n + i / 3];
      palette_[i] = static_cast<unsigned char>(bytes ? v : v >> 8);
    }
  }

  const Directory& d_;
  const Kind& kind_;
  const Raster& raster_;
  TiffData data_;
  unsigned char palette_[3 * 256] = {};
};

void Invert(const Raster& raster) {
  const int64_t bytes = raster.wide ? 2 : 1, pixels = raster.width * raster.height;
  for (int64_t i = 0; i < pixels; ++i) {  // of grey and alpha only the grey
    unsigned char* p = raster.row(0) + i * raster.channels * bytes;
    for (int64_t b = 0; b < bytes; ++b) p[b] = static_cast<unsigned char>(255 - p[b]);
  }
}

absl::Status ReadConverted(const EncodedImage& file, const Directory& d, Raster* raster) {
  auto* pixels = reinterpret_cast<uint32_t*>(raster->row(0));
  TiffData data(file, d);
  FIRN_RETURN_IF_ERROR(data.ReadConverted(pixels));
  unsigned char* to = raster->row(0);
  for (int64_t i = 0; i < raster->width * raster->height; ++i) {
    const uint32_t v = pixels[i];
    for (const uint32_t byte : {TIFFGetR(v), TIFFGetG(v), TIFFGetB(v)}) {
      *to++ = static_cast<unsigned char>(byte);
    }
  }
  raster->channels = 3;
  return absl::OkStatus();
}

// The parts of tiles beyond the image cost work and memory too.
absl::Status CheckTiles(const EncodedImage& file, const Directory& d) {
  const __int128 pixels = static_cast<__int128>(d.segments_across()) * d.segment_width *
                          d.segments_down() * d.segment_height;
  const __int128 segment = static_cast<__int128>(d.segment_row_bytes()) * d.segment_height;
  const ImageLimits& limits = file.options.limits;
  FIRN_RETURN_IF(segment > limits.max_bytes,
                 ResourceExhausted(file.name, ": TIFF: strips or tiles of more than the ",
                                   limits.max_bytes, " bytes allowed (limits.max_bytes)"));
  FIRN_RETURN_IF(
      pixels * d.bits * d.samples / 8 >
          kFreeBytes + static_cast<__int128>(file.size()) * limits.max_expansion,
      Bad(file, "strips or tiles of ", d.segment_width, " x ", d.segment_height,
          " pixels cannot lie in a file of ", file.size(), " bytes (limits.max_expansion)"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Raster> DecodeTiff(const EncodedImage& file) {
  FIRN_ASSIGN_OR_RETURN(const Directory d, ReadTiffDirectory(file));
  FIRN_ASSIGN_OR_RETURN(const Kind kind, KindOf(file, d));
  // The library converts to bytes, which must not pass for numbers up to 65535.
  FIRN_RETURN_IF(kind.converted && d.bits > 8 && file.options.keep_16_bits,
                 Unread(file, "keeping the ", d.bits, " bits of YCbCr or CIE L*a*b*"));
  const bool wide = d.bits == 16 && !kind.converted;
  FIRN_ASSIGN_OR_RETURN(Raster raster, MakeRaster(file, d.width, d.height, kind.channels(), wide,
                                                  int64_t{d.bits} * d.samples));
  FIRN_RETURN_IF_ERROR(CheckTiles(file, d));
  if (kind.converted) {
    FIRN_RETURN_IF_ERROR(ReadConverted(file, d, &raster));
  } else {
    FIRN_RETURN_IF_ERROR(Assembler(file, d, kind, raster).Run());
    if (d.photometric == PHOTOMETRIC_MINISWHITE) Invert(raster);
  }
  if (d.orientation >= 1 && d.orientation <= 8)
    raster.orientation = static_cast<int>(d.orientation);
  return raster;
}

}  // namespace firn::io::internal

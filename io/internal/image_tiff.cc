// Images of grey or RGB samples in strips are read sample by sample; the rest (tiles, planes,
// palettes, CMYK, YCbCr) by libtiff's conversion to RGBA, which makes bytes and multiplies by
// alpha. Each open file has its own error handler, the library's global ones are left alone.
// Compressions that bring in another library, but for JPEG's, are refused.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/raster.h"

namespace firn::io::internal {
namespace {

struct Input {
  const unsigned char* data;
  uint64_t size;
  uint64_t at = 0;
  char message[160] = "";
};

tmsize_t OnRead(thandle_t handle, void* out, tmsize_t n) {
  auto* input = static_cast<Input*>(handle);
  if (n <= 0 || input->at >= input->size) return 0;
  const uint64_t got = std::min(static_cast<uint64_t>(n), input->size - input->at);
  std::memcpy(out, input->data + input->at, got);
  input->at += got;
  return static_cast<tmsize_t>(got);
}

tmsize_t OnWrite(thandle_t, void*, tmsize_t) { return -1; }

toff_t OnSeek(thandle_t handle, toff_t offset, int whence) {
  auto* input = static_cast<Input*>(handle);
  const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? input->at : input->size;
  input->at = base + offset;  // beyond the end there is nothing to read
  return input->at;
}

int OnClose(thandle_t) { return 0; }
toff_t OnSize(thandle_t handle) { return static_cast<Input*>(handle)->size; }

// Keeps the first message, which is the cause of the others. 1: nobody else need be told.
int OnMessage(TIFF*, void* data, const char*, const char* format, va_list args) {
  auto* input = static_cast<Input*>(data);
  if (input->message[0] == '\0') {
    std::vsnprintf(input->message, sizeof(input->message), format, args);
  }
  return 1;
}

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Handle = std::unique_ptr<TIFF, Close>;

// Null on an error.
Handle Open(Input* input, const ImageLimits& limits) {
  TIFFOpenOptions* open = TIFFOpenOptionsAlloc();
  if (open == nullptr) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(open, OnMessage, input);
  TIFFOpenOptionsSetWarningHandlerExtR(open, OnMessage, input);
  // A tile, of whatever size the file says, is one piece of memory.
  const auto size = static_cast<int64_t>(input->size);
  const int64_t most = size > limits.max_bytes / limits.max_expansion
                           ? limits.max_bytes
                           : std::max(size * limits.max_expansion, kFreeBytes);
  TIFFOpenOptionsSetMaxSingleMemAlloc(open, static_cast<tmsize_t>(most));
  // "m": not mapped, so that the library writes into no memory of ours.
  Handle tiff(TIFFClientOpenExt("", "rm", input, OnRead, OnWrite, OnSeek, OnClose, OnSize, nullptr,
                                nullptr, open));
  TIFFOpenOptionsFree(open);
  return tiff;
}

struct Tags {
  uint32_t width = 0, height = 0;
  uint16_t bits = 1, samples = 1, planes = PLANARCONFIG_CONTIG, format = SAMPLEFORMAT_UINT;
  uint16_t photometric = PHOTOMETRIC_MINISBLACK, compression = COMPRESSION_NONE, orientation = 1;
  bool tiled = false;
};

Tags ReadTags(TIFF* tiff) {
  Tags t;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &t.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &t.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &t.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &t.samples);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &t.planes);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &t.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &t.orientation);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &t.compression);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &t.photometric);
  t.tiled = TIFFIsTiled(tiff) != 0;
  return t;
}

bool KnownCompression(uint16_t c) {
  constexpr uint16_t kKnown[] = {
      COMPRESSION_NONE,      COMPRESSION_CCITTRLE,      COMPRESSION_CCITTFAX3,
      COMPRESSION_CCITTFAX4, COMPRESSION_LZW,           COMPRESSION_JPEG,
      COMPRESSION_DEFLATE,   COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS};
  return std::find(std::begin(kKnown), std::end(kKnown), c) != std::end(kKnown);
}

bool Grey(const Tags& t) {
  return t.photometric == PHOTOMETRIC_MINISBLACK || t.photometric == PHOTOMETRIC_MINISWHITE;
}

// Whether rows hold the samples of the result.
bool Plain(const Tags& t) {
  const bool rgb = t.photometric == PHOTOMETRIC_RGB;
  return !t.tiled && (t.planes == PLANARCONFIG_CONTIG || t.samples == 1) &&
         (t.bits == 8 || t.bits == 16) && t.format == SAMPLEFORMAT_UINT &&
         ((Grey(t) && t.samples <= 2) || (rgb && (t.samples == 3 || t.samples == 4)));
}

absl::Status Failed(const EncodedImage& file, const Input& input) {
  return DamagedImage(file, "TIFF", input.message[0] != '\0' ? input.message : "not readable");
}

void Invert(const Raster& raster) {
  const int64_t bytes = raster.wide ? 2 : 1, pixels = raster.width * raster.height;
  for (int64_t i = 0; i < pixels; ++i) {  // of grey and alpha only the grey
    unsigned char* p = raster.row(0) + i * raster.channels * bytes;
    for (int64_t b = 0; b < bytes; ++b) p[b] = static_cast<unsigned char>(255 - p[b]);
  }
}

absl::Status ReadPlain(const EncodedImage& file, Input* input, TIFF* tiff, const Tags& t,
                       const Raster& raster) {
  FIRN_RETURN_IF(TIFFScanlineSize64(tiff) != static_cast<uint64_t>(raster.row_bytes()),
                 DamagedImage(file, "TIFF", "the size of its rows"));
  for (uint32_t y = 0; y < t.height; ++y) {
    if (TIFFReadScanline(tiff, raster.row(y), y, 0) != 1) return Failed(file, *input);
  }
  if (t.photometric == PHOTOMETRIC_MINISWHITE) Invert(raster);
  return absl::OkStatus();
}

// RGBA becomes the first `channels` of them, in place.
void DropChannels(int channels, Raster* raster) {
  const int64_t pixels = raster->width * raster->height;
  unsigned char* to = raster->row(0);
  const unsigned char* from = to;
  for (int64_t i = 0; i < pixels; ++i, from += 4, to += channels) {
    std::memmove(to, from, static_cast<size_t>(channels));
  }
  raster->channels = channels;
}

absl::Status ReadConverted(const EncodedImage& file, Input* input, TIFF* tiff, const Tags& t,
                           Raster* raster) {
  // The orientation that the file has, so that rows stay in its order and RasterToTensor turns.
  auto* pixels = reinterpret_cast<uint32_t*>(raster->row(0));
  if (TIFFReadRGBAImageOriented(tiff, t.width, t.height, pixels, t.orientation, 1) != 1) {
    return Failed(file, *input);
  }
  unsigned char* p = raster->row(0);
  for (int64_t i = 0; i < raster->width * raster->height; ++i, p += 4) {
    const uint32_t v = pixels[i];
    const unsigned char rgba[4] = {
        static_cast<unsigned char>(TIFFGetR(v)), static_cast<unsigned char>(TIFFGetG(v)),
        static_cast<unsigned char>(TIFFGetB(v)), static_cast<unsigned char>(TIFFGetA(v))};
    std::memcpy(p, rgba, 4);
  }
  uint16_t extra = 0;
  uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
  if (extra == 0) DropChannels(Grey(t) ? 1 : 3, raster);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Raster> DecodeTiff(const EncodedImage& file) {
  Input input{.data = file.data(), .size = file.bytes.size()};
  const Handle tiff = Open(&input, file.options.limits);
  if (tiff == nullptr) return Failed(file, input);
  input.message[0] = '\0';  // of tags that nobody asks for
  const Tags t = ReadTags(tiff.get());
  FIRN_RETURN_IF(
      !KnownCompression(t.compression),
      Unimplemented(file.name, ": TIFF: compression ", t.compression, " is not supported"));
  const bool plain = Plain(t);
  FIRN_RETURN_IF(
      !plain && file.options.keep_16_bits && t.bits > 8,
      Unimplemented(file.name, ": TIFF: ", t.bits, " bits of photometric ", t.photometric, " with ",
                    t.samples, " samples are read with keep_16_bits = false only"));
  FIRN_ASSIGN_OR_RETURN(Raster raster,
                        MakeRaster(file, t.width, t.height, plain ? t.samples : 4,
                                   plain && t.bits == 16, int64_t{t.bits} * t.samples));
  FIRN_RETURN_IF_ERROR(plain ? ReadPlain(file, &input, tiff.get(), t, raster)
                             : ReadConverted(file, &input, tiff.get(), t, &raster));
  // libjpeg fills up what is missing and only says so.
  if (t.compression == COMPRESSION_JPEG && input.message[0] != '\0') return Failed(file, input);
  if (t.orientation >= 1 && t.orientation <= 8) raster.orientation = t.orientation;
  return raster;
}

}  // namespace firn::io::internal

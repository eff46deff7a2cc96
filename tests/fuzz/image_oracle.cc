#include "tests/fuzz/image_oracle.h"

#include <gif_lib.h>
#include <tiffio.h>
#include <zlib.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// After <cstdio>, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include "firn/io/image/image_status.h"
#include "tests/fuzz/reader.h"

namespace firn::io {
namespace {

using testing::FuzzCheck;

const unsigned char* Data(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

// R, G, B, A of each pixel, as the file has them stored.
std::vector<uint8_t> Rgba(std::string_view bytes, DecodeImageOptions options) {
  options.color = ImageColor::kRgba;
  options.keep_16_bits = options.orient = false;
  const absl::StatusOr<Tensor> image = TryParseImage(bytes, "fuzz", options);
  if (!image.ok()) return {};
  const auto plane = static_cast<size_t>(image->size(1) * image->size(2));
  const auto v = image->ToVector<uint8_t>();
  std::vector<uint8_t> rgba(4 * plane);
  for (size_t i = 0; i < 4 * plane; ++i) rgba[i] = v[i % 4 * plane + i / 4];
  return rgba;
}

// ---- PNG

uint32_t BigEndian(std::string_view bytes) {
  const unsigned char* p = Data(bytes);
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

void CheckPng(std::string_view bytes) {
  std::string packed;
  bool ended = false;
  for (size_t at = 8; !ended;) {
    FuzzCheck(at + 12 <= bytes.size(), "a PNG that is read has an end");
    const size_t n = BigEndian(bytes.substr(at));
    FuzzCheck(n <= bytes.size() - at - 12, "a PNG's chunks lie in the file");
    const std::string_view body = bytes.substr(at + 4, n + 4);
    FuzzCheck(BigEndian(bytes.substr(at + 8 + n)) == crc32_z(0, Data(body), body.size()),
              "the checksum of a PNG's chunk is right");
    if (body.starts_with("IDAT")) packed += body.substr(4);
    ended = body.starts_with("IEND");
    at += n + 12;
  }
  z_stream z{};
  FuzzCheck(inflateInit(&z) == Z_OK, "there is memory");
  z.next_in = reinterpret_cast<Bytef*>(packed.data());
  z.avail_in = static_cast<uInt>(packed.size());
  int code = Z_OK;
  while (code == Z_OK) {
    Bytef out[1 << 14];
    z.next_out = out;
    z.avail_out = sizeof(out);
    code = inflate(&z, Z_NO_FLUSH);
  }
  inflateEnd(&z);
  FuzzCheck(code == Z_STREAM_END, "the checksum of a PNG's pixels is right");
}

// ---- GIF

int ReadGif(GifFileType* gif, GifByteType* out, int n) {
  auto* left = static_cast<std::string_view*>(gif->UserData);
  const size_t got = std::min(left->size(), static_cast<size_t>(std::max(n, 0)));
  std::memcpy(out, left->data(), got);
  left->remove_prefix(got);
  return static_cast<int>(got);
}

void CheckGifPixels(GifFileType* gif, const std::vector<uint8_t>& rgba) {
  const GifImageDesc& image = gif->Image;
  const ColorMapObject* map = image.ColorMap != nullptr ? image.ColorMap : gif->SColorMap;
  std::vector<GifPixelType> line(static_cast<size_t>(image.Width));
  std::vector<int> rows;
  constexpr int kStart[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < (image.Interlace ? 4 : 1); ++pass) {
    const int step = image.Interlace ? kStep[pass] : 1;
    for (int y = kStart[pass]; y < image.Height; y += step) rows.push_back(y);
  }
  for (const int y : rows) {
    FuzzCheck(DGifGetLine(gif, line.data(), image.Width) == GIF_OK, "giflib reads the row too");
    const auto start = static_cast<size_t>((image.Top + y) * gif->SWidth + image.Left);
    for (size_t x = 0; x < line.size(); ++x) {
      FuzzCheck(line[x] < map->ColorCount, "giflib has the colour too");
      const GifColorType& color = map->Colors[line[x]];
      const uint8_t* p = rgba.data() + 4 * (start + x);
      FuzzCheck(p[0] == color.Red && p[1] == color.Green && p[2] == color.Blue,
                "giflib has the same pixel");
    }
  }
}

void CheckGif(std::string_view bytes, const DecodeImageOptions& options) {
  const std::vector<uint8_t> rgba = Rgba(bytes, options);
  std::string_view left = bytes;
  int error = 0;
  GifFileType* gif = DGifOpen(&left, ReadGif, &error);
  FuzzCheck(gif != nullptr, "giflib opens the file too");
  for (GifRecordType type = UNDEFINED_RECORD_TYPE; type != IMAGE_DESC_RECORD_TYPE;) {
    FuzzCheck(DGifGetRecordType(gif, &type) == GIF_OK, "giflib finds the image too");
    if (type != EXTENSION_RECORD_TYPE) continue;
    int code = 0;
    GifByteType* block = nullptr;
    FuzzCheck(DGifGetExtension(gif, &code, &block) == GIF_OK, "giflib reads extensions too");
    while (block != nullptr) {
      FuzzCheck(DGifGetExtensionNext(gif, &block) == GIF_OK, "giflib reads extensions too");
    }
  }
  FuzzCheck(DGifGetImageDesc(gif) == GIF_OK, "giflib reads the image too");
  if (!rgba.empty()) CheckGifPixels(gif, rgba);
  DGifCloseFile(gif, &error);
}

// ---- JPEG

void OnJpegError(j_common_ptr) { FuzzCheck(false, "libjpeg reads the file too"); }

void OnJpegMessage(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  const bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR;
  FuzzCheck(level >= 0 || harmless, "libjpeg warns of nothing that changes pixels");
}

void CheckJpeg(std::string_view bytes) {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  errors.error_exit = OnJpegError;
  errors.emit_message = OnJpegMessage;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, Data(bytes), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&jpeg, TRUE);
  jpeg_start_decompress(&jpeg);
  std::vector<unsigned char> row(size_t{jpeg.output_width} *
                                 static_cast<size_t>(jpeg.output_components));
  while (jpeg.output_scanline < jpeg.output_height) {
    unsigned char* p = row.data();
    jpeg_read_scanlines(&jpeg, &p, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
}

// ---- TIFF

struct TiffInput {
  std::string_view bytes;
  uint64_t at = 0;
  bool complains = false;
};

tmsize_t ReadTiff(thandle_t handle, void* out, tmsize_t n) {
  auto* input = static_cast<TiffInput*>(handle);
  if (input->at >= input->bytes.size() || n <= 0) return 0;
  const size_t got = std::min(static_cast<size_t>(n), input->bytes.size() - input->at);
  std::memcpy(out, input->bytes.data() + input->at, got);
  input->at += got;
  return static_cast<tmsize_t>(got);
}

toff_t SeekTiff(thandle_t handle, toff_t offset, int whence) {
  auto* input = static_cast<TiffInput*>(handle);
  const uint64_t base = whence == SEEK_SET   ? 0
                        : whence == SEEK_CUR ? input->at
                                             : input->bytes.size();
  return input->at = base + offset;
}

int OnTiffMessage(TIFF*, void* data, const char*, const char* format, va_list) {
  // Messages about unknown tags are ignored: these say nothing of pixels.
  if (std::strstr(format, "Unknown field") == nullptr) {
    static_cast<TiffInput*>(data)->complains = true;
  }
  return 1;
}

// Grey, RGB and palettes without alpha; libtiff rounds down where 16 bits become 8.
void CheckTiffPixels(TIFF* tiff, const TiffInput& input, const std::vector<uint8_t>& rgba) {
  uint32_t width = 0, height = 0;
  uint16_t photometric = 0, extras = 0, *kinds = nullptr;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  if (photometric > PHOTOMETRIC_PALETTE || extras > 0) return;
  std::vector<uint32_t> pixels(size_t{width} * height);
  const int read = TIFFReadRGBAImageOriented(tiff, width, height, pixels.data(), orientation, 1);
  if (read != 1 || input.complains) return;
  FuzzCheck(pixels.size() * 4 == rgba.size(), "libtiff has the same size");
  for (size_t i = 0; i < pixels.size(); ++i) {
    const uint32_t v = pixels[i];
    const int theirs[] = {static_cast<int>(TIFFGetR(v)), static_cast<int>(TIFFGetG(v)),
                          static_cast<int>(TIFFGetB(v))};
    for (size_t c = 0; c < 3; ++c) {
      FuzzCheck(std::abs(theirs[c] - rgba[4 * i + c]) <= 1, "libtiff has the same pixel");
    }
  }
}

void CheckTiff(std::string_view bytes, const DecodeImageOptions& options) {
  const std::vector<uint8_t> rgba = Rgba(bytes, options);
  if (rgba.empty()) return;
  TiffInput input{.bytes = bytes};
  TIFFOpenOptions* open = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetErrorHandlerExtR(open, OnTiffMessage, &input);
  TIFFOpenOptionsSetWarningHandlerExtR(open, OnTiffMessage, &input);
  TIFFOpenOptionsSetMaxSingleMemAlloc(open, tmsize_t{1} << 24);
  TIFF* tiff = TIFFClientOpenExt(
      "", "rm", &input, ReadTiff, [](thandle_t, void*, tmsize_t) -> tmsize_t { return -1; },
      SeekTiff, [](thandle_t) { return 0; },
      [](thandle_t handle) -> toff_t { return static_cast<TiffInput*>(handle)->bytes.size(); },
      nullptr, nullptr, open);
  TIFFOpenOptionsFree(open);
  if (tiff == nullptr) return;
  if (!input.complains) CheckTiffPixels(tiff, input, rgba);
  TIFFClose(tiff);
}

}  // namespace

void CheckDecoded(std::string_view bytes, const DecodeImageOptions& options, const Tensor& image) {
  const absl::StatusOr<Tensor> again = TryParseImage(bytes, "fuzz", options);
  FuzzCheck(again.ok() && again->Equals(image), "the same bytes are the same image");
  if (bytes.starts_with("\x89PNG")) CheckPng(bytes);
  if (bytes.starts_with("GIF")) CheckGif(bytes, options);
  if (bytes.starts_with("\xff\xd8")) CheckJpeg(bytes);
  if (bytes.starts_with("II") || bytes.starts_with("MM")) CheckTiff(bytes, options);
}

}  // namespace firn::io

#include "tests/io/image/image_test_files.h"

#include <gif_lib.h>
#include <png.h>
#include <tiffio.h>

#include <cstdio>
#include <cstdlib>

// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "firn/io/image/image.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

std::string Le(uint32_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> 8 * i & 255);
  return s;
}

int Append(GifFileType* gif, const GifByteType* data, int n) {
  static_cast<std::string*>(gif->UserData)->append(reinterpret_cast<const char*>(data), n);
  return n;
}

}  // namespace

Tensor Ramp(int64_t channels, int64_t height, int64_t width) {
  std::vector<uint8_t> v;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x)
        v.push_back(static_cast<uint8_t>(37 * c + 11 * y + 5 * x));
    }
  }
  return FromVector(std::move(v), {channels, height, width});
}

std::string Gif(int width, int height, int colors, bool interlaced, int border, int transparent) {
  std::string out;
  int error = 0;
  GifFileType* gif = EGifOpen(&out, Append, &error);
  EGifSetGifVersion(gif, true);
  ColorMapObject* map = GifMakeMapObject(colors, nullptr);
  for (int i = 0; i < colors; ++i) {
    const auto v = static_cast<GifByteType>(i * 255 / (colors - 1));
    map->Colors[i] = {v, v, v};
  }
  EXPECT_EQ(EGifPutScreenDesc(gif, width + 2 * border, height + 2 * border, 8, 0, map), GIF_OK);
  if (transparent >= 0) {
    const GraphicsControlBlock control = {DISPOSAL_UNSPECIFIED, false, 0, transparent};
    GifByteType block[4];
    EGifGCBToExtension(&control, block);
    EXPECT_EQ(EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, 4, block), GIF_OK);
  }
  EXPECT_EQ(EGifPutImageDesc(gif, border, border, width, height, interlaced, nullptr), GIF_OK);
  std::vector<int> rows;
  const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  for (int pass = 0; pass < (interlaced ? 4 : 1); ++pass) {
    for (int y = starts[pass]; y < height; y += interlaced ? steps[pass] : 1) rows.push_back(y);
  }
  for (const int y : rows) {
    std::vector<GifPixelType> line;
    for (int x = 0; x < width; ++x) {
      line.push_back(static_cast<GifPixelType>((y * width + x) % colors));
    }
    EXPECT_EQ(EGifPutLine(gif, line.data(), width), GIF_OK);
  }
  GifFreeMapObject(map);
  EXPECT_EQ(EGifCloseFile(gif, &error), GIF_OK);
  return out;
}

std::string Tiff(const std::string& name, uint32_t width, uint32_t height,
                 const TiffOptions& options) {
  const std::string path = TempPath(name);
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, int{options.samples});
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, int{options.bits});
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, int{options.compression});
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, int{options.orientation});
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
               options.samples > 2     ? PHOTOMETRIC_RGB
               : options.white_is_zero ? PHOTOMETRIC_MINISWHITE
                                       : PHOTOMETRIC_MINISBLACK);
  if (options.samples % 2 == 0) {
    uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  const auto row = static_cast<size_t>(width * options.samples * options.bits / 8);
  if (options.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
    std::vector<uint8_t> tile(static_cast<size_t>(16 * 16 * options.samples));
    for (size_t i = 0; i < tile.size(); ++i) tile[i] = static_cast<uint8_t>(i);
    TIFFWriteTile(tiff, tile.data(), 0, 0, 0, 0);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 2);
    for (uint32_t y = 0; y < height; ++y) {
      std::vector<uint8_t> line(row);
      for (size_t i = 0; i < row; ++i) line[i] = static_cast<uint8_t>(y * row + i);
      TIFFWriteScanline(tiff, line.data(), y, 0);
    }
  }
  TIFFClose(tiff);
  return ReadFile(path);
}

std::string PalettePng(uint32_t width, uint32_t height, bool interlaced) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))
            ->append(reinterpret_cast<const char*>(data), n);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, 2, PNG_COLOR_TYPE_PALETTE,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const png_color colors[4] = {{0, 0, 0}, {255, 0, 0}, {0, 255, 0}, {0, 0, 255}};
  const png_byte alpha[4] = {255, 255, 255, 0};
  png_set_PLTE(png, info, colors, 4);
  png_set_tRNS(png, info, alpha, 4, nullptr);
  png_write_info(png, info);
  std::vector<std::vector<png_byte>> rows(height, std::vector<png_byte>((width + 3) / 4));
  std::vector<png_bytep> pointers;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      rows[y][x / 4] |= static_cast<png_byte>((y * width + x) % 4 << (6 - x % 4 * 2));
    }
    pointers.push_back(rows[y].data());
  }
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

std::string CmykJpeg(uint8_t c, uint8_t m, uint8_t y, uint8_t k) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long n = 0;
  jpeg_mem_dest(&jpeg, &bytes, &n);
  jpeg.image_width = jpeg.image_height = 8;
  jpeg.input_components = 4;
  jpeg.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::string row;
  for (int x = 0; x < 8; ++x) {
    for (const uint8_t v : {c, m, y, k}) row += static_cast<char>(v);
  }
  auto* p = reinterpret_cast<unsigned char*>(row.data());
  for (int i = 0; i < 8; ++i) jpeg_write_scanlines(&jpeg, &p, 1);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string out(reinterpret_cast<const char*>(bytes), n);
  std::free(bytes);
  return out;
}

std::string JpegOfScans(int scans) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long n = 0;
  jpeg_mem_dest(&jpeg, &bytes, &n);
  jpeg.image_width = jpeg.image_height = 16;
  jpeg.input_components = 1;
  jpeg.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&jpeg);
  std::vector<jpeg_scan_info> script = {{1, {0}, 0, 0, 0, 0}};
  for (int k = 1; k < 64; ++k) script.push_back({1, {0}, k, k, 0, 1});
  for (int k = 1; k < 64; ++k) script.push_back({1, {0}, k, k, 1, 0});
  jpeg.scan_info = script.data();
  jpeg.num_scans = scans;
  jpeg_start_compress(&jpeg, TRUE);
  for (int y = 0; y < 16; ++y) {
    unsigned char row[16];
    for (int x = 0; x < 16; ++x) row[x] = static_cast<unsigned char>(16 * x + y);
    unsigned char* p = row;
    jpeg_write_scanlines(&jpeg, &p, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string out(reinterpret_cast<const char*>(bytes), n);
  std::free(bytes);
  return out;
}

std::string Bmp(int width, int height, int bits) {
  const int palette = bits == 8 ? 1024 : 0, row = (width * bits / 8 + 3) / 4 * 4;
  std::string s = "BM" + Le(static_cast<uint32_t>(54 + palette + row * height), 4) + Le(0, 4) +
                  Le(static_cast<uint32_t>(54 + palette), 4) + Le(40, 4) +
                  Le(static_cast<uint32_t>(width), 4) + Le(static_cast<uint32_t>(height), 4) +
                  Le(1, 2) + Le(static_cast<uint32_t>(bits), 2) + std::string(24, '\0');
  for (int i = 0; i < palette / 4; ++i) s += std::string(3, static_cast<char>(i)) + '\0';
  for (int y = height - 1; y >= 0; --y) {
    std::string line;
    for (int x = 0; x < width; ++x) line += std::string(bits / 8, static_cast<char>(y * width + x));
    s += line + std::string(static_cast<size_t>(row) - line.size(), '\0');
  }
  return s;
}

std::string WithOrientation(const std::string& jpeg, int orientation) {
  const std::string exif = std::string("Exif\0\0II*\0", 10) + Le(8, 4) + Le(1, 2) + Le(274, 2) +
                           Le(3, 2) + Le(1, 4) + Le(static_cast<uint32_t>(orientation), 4) +
                           Le(0, 4);
  const auto n = static_cast<unsigned>(exif.size() + 2);
  const std::string length = {static_cast<char>(n >> 8), static_cast<char>(n & 255)};
  return jpeg.substr(0, 2) + "\xff\xe1" + length + exif + jpeg.substr(2);
}

std::vector<std::pair<std::string, std::string>> SmallImages() {
  const auto wide = FromVector(std::vector<int32_t>{0, 256, 40000, 65535, 1, 2}, {1, 2, 3});
  return {
      {"rgb.png", EncodePng(Ramp(3, 9, 7))},
      {"grey_alpha.png", EncodePng(Ramp(2, 5, 6))},
      {"wide.png", EncodePng(wide)},
      {"palette.png", PalettePng(9, 9, true)},
      {"cmyk.jpg", CmykJpeg(200, 100, 50, 255)},
      {"grey.jpg", EncodeJpeg(Ramp(1, 17, 19))},
      {"rgb.jpg", WithOrientation(EncodeJpeg(Ramp(3, 17, 19)), 6)},
      {"progressive.jpg", EncodeJpeg(Ramp(3, 33, 18), {.progressive = true})},
      {"interlaced.gif", Gif(9, 11, 16, true)},
      {"border.gif", Gif(5, 4, 4, false, 2, 1)},
      {"rgb.bmp", Bmp(5, 4)},
      {"palette.bmp", Bmp(5, 4, 8)},
      {"rgb.tiff", Tiff("rgb.tiff", 5, 4)},
      {"lzw.tiff", Tiff("lzw.tiff", 9, 8, {.samples = 4, .compression = 5})},
      {"deflate.tiff", Tiff("deflate.tiff", 9, 8, {.samples = 1, .bits = 16, .compression = 8})},
      {"tiled.tiff", Tiff("tiled.tiff", 16, 16, {.compression = 8, .tiled = true})},
      {"bits.pbm", "P4 9 2\n\xf0\x80\x0f\x7f"},
      {"text.pgm", "P2 # a comment\n3 2 9\n0 1 2 3 4 9\n"},
      {"wide.ppm", std::string("P6 1 1 65535\n\0\1\1\0\xff\xff", 19)},
  };
}

}  // namespace firn::io

// libpng reports an error by a function that must not return. Ours jumps to Guarded, so no frame
// between may hold an object with a destructor: such objects live in the callers of Guarded.
//
// Problems that the library repairs with a warning or a benign error are errors here: a wrong
// checksum of any chunk or of the pixels, data that are too long, a transparency that it drops.
// Palettes are looked up here, because the library uses black for a colour that the palette lacks.
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/internal/encode_image.h"
#include "firn/io/image/internal/raster.h"

// Included last and after <csetjmp>, since it is a C header.
#include <png.h>

namespace firn::io::internal {
namespace {

struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[160] = "out of memory";
  bool has_message = false;
  // Reading.
  const unsigned char* next = nullptr;
  size_t left = 0;
  bool has_transparency = false;
  unsigned char* rows = nullptr;
  size_t row_bytes = 0;
  png_uint_32 height = 0;
  int palette_channels = 0;  // 3 or 4: rows are numbers of colours first
  // Writing.
  std::string* out = nullptr;
  png_uint_32 width = 0;
  int depth = 8, color_type = 0, level = 6;
};

void OnError(png_structp png, png_const_charp message) {
  auto* s = static_cast<Session*>(png_get_error_ptr(png));
  // The warning says what is wrong; the error that follows it does not.
  if (!s->has_message) std::snprintf(s->message, sizeof(s->message), "%s", message);
  png_longjmp(png, 1);
}

// A grey image has no use for a palette.
void OnReadWarning(png_structp png, png_const_charp message) {
  auto* s = static_cast<Session*>(png_get_error_ptr(png));
  if (std::strstr(message, "ignored in grayscale PNG") != nullptr || s->has_message) return;
  std::snprintf(s->message, sizeof(s->message), "%s", message);
  s->has_message = true;
}

void OnWriteWarning(png_structp, png_const_charp) {}

// False when `work` ended by an error, with s->message set.
bool Guarded(Session* s, void (*work)(Session*)) {
  if (setjmp(png_jmpbuf(s->png)) != 0) return false;
  work(s);
  return true;
}

void OnRead(png_structp png, png_bytep out, size_t n) {
  auto* s = static_cast<Session*>(png_get_io_ptr(png));
  if (n > s->left) png_error(png, "the file ends early");
  std::memcpy(out, s->next, n);
  s->next += n;
  s->left -= n;
}

void OnWrite(png_structp png, png_bytep data, size_t n) {
  auto* s = static_cast<Session*>(png_get_io_ptr(png));
  bool done = true;
  try {
    s->out->append(reinterpret_cast<const char*>(data), n);
  } catch (const std::bad_alloc&) {
    done = false;
  }
  if (!done) png_error(png, "out of memory");
}

void OnFlush(png_structp) {}

class Reader {
 public:
  explicit Reader(const EncodedImage& file) {
    s_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s_, OnError, OnReadWarning);
    if (s_.png != nullptr) s_.info = png_create_info_struct(s_.png);
    s_.next = file.data();
    s_.left = file.bytes.size();
  }
  ~Reader() { png_destroy_read_struct(&s_.png, &s_.info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  Session* session() { return s_.info != nullptr ? &s_ : nullptr; }

 private:
  Session s_;
};

class Writer {
 public:
  Writer() {
    s_.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s_, OnError, OnWriteWarning);
    if (s_.png != nullptr) s_.info = png_create_info_struct(s_.png);
  }
  ~Writer() { png_destroy_write_struct(&s_.png, &s_.info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Session* session() { return s_.info != nullptr ? &s_ : nullptr; }

 private:
  Session s_;
};

// Our own limits apply: the library's is a million pixels a side, for writing as well.
void LiftLimits(Session* s) { png_set_user_limits(s->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); }

void ReadHeader(Session* s) {
  png_set_read_fn(s->png, s, OnRead);
  LiftLimits(s);
  png_set_crc_action(s->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  // Texts and colour profiles are not unpacked.
  png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(s->png, s->info);
  s->has_transparency = png_get_valid(s->png, s->info, PNG_INFO_tRNS) != 0;
}

struct Palette {
  unsigned char rgba[256][4];
  int colors;
};

void ReadPalette(Session* s, Palette* palette) {
  png_colorp colors = nullptr;
  png_bytep alpha = nullptr;
  int alphas = 0;
  if (png_get_PLTE(s->png, s->info, &colors, &palette->colors) == 0) {
    png_error(s->png, "the palette is missing");
  }
  if (s->has_transparency) png_get_tRNS(s->png, s->info, &alpha, &alphas, nullptr);
  for (int i = 0; i < palette->colors; ++i) {
    const png_color& c = colors[i];
    const unsigned char rgba[4] = {c.red, c.green, c.blue,
                                   i < alphas ? alpha[i] : static_cast<unsigned char>(255)};
    std::memcpy(palette->rgba[i], rgba, 4);
  }
}

// The numbers of colours stand at the end of the row, where no pixel is written before its number
// has been read.
void LookUp(Session* s, const Palette& palette, unsigned char* row) {
  const auto channels = static_cast<size_t>(s->palette_channels);
  const size_t width = s->row_bytes / channels;
  const unsigned char* from = row + s->row_bytes - width;
  for (size_t x = 0; x < width; ++x, row += channels) {
    const int color = from[x];
    if (color >= palette.colors) png_error(s->png, "a colour that the palette does not have");
    const unsigned char* rgba = palette.rgba[color];
    row[0] = rgba[0];
    row[1] = rgba[1];
    row[2] = rgba[2];
    if (channels == 4) row[3] = rgba[3];
  }
}

void ReadRows(Session* s) {
  Palette palette = {};
  size_t row_bytes = s->row_bytes, skip = 0;
  if (s->palette_channels > 0) {
    ReadPalette(s, &palette);
    png_set_packing(s->png);
    row_bytes /= static_cast<size_t>(s->palette_channels);
    skip = s->row_bytes - row_bytes;
  } else {
    png_set_expand(s->png);  // fewer than 8 bits, transparent colours
  }
  if constexpr (std::endian::native == std::endian::little) png_set_swap(s->png);
  const int passes = png_set_interlace_handling(s->png);
  png_read_update_info(s->png, s->info);
  if (png_get_rowbytes(s->png, s->info) != row_bytes) png_error(s->png, "size of a row");
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < s->height; ++y) {
      unsigned char* row = s->rows + y * s->row_bytes;
      png_read_row(s->png, row + skip, nullptr);
      if (s->palette_channels > 0 && pass == passes - 1) LookUp(s, palette, row);
    }
  }
  png_read_end(s->png, s->info);  // it checks chunks that are out of place
  if (s->has_message) png_error(s->png, s->message);
}

void WriteAll(Session* s) {
  png_set_write_fn(s->png, s, OnWrite, OnFlush);
  LiftLimits(s);
  png_set_compression_level(s->png, s->level);
  png_set_IHDR(s->png, s->info, s->width, s->height, s->depth, s->color_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(s->png, s->info);
  if (std::endian::native == std::endian::little && s->depth == 16) png_set_swap(s->png);
  for (png_uint_32 y = 0; y < s->height; ++y) png_write_row(s->png, s->rows + y * s->row_bytes);
  png_write_end(s->png, s->info);
}

absl::Status Failed(const EncodedImage& file, const Session& s) {
  const std::string text =
      absl::StrCat("before byte ", file.bytes.size() - s.left, ": ", s.message);
  const auto says = [&](const char* what) { return std::strstr(s.message, what) != nullptr; };
  // A chunk that is marked as critical, so that decoders may not skip it, and whose checksum is
  // right.
  if (says("unhandled critical chunk")) return Unimplemented(file.name, ": PNG: ", text);
  if (says("emory") || says("user limit")) return ResourceExhausted(file.name, ": PNG: ", text);
  return DamagedImage(file, "PNG", text);
}

// Channels after palettes and transparent colours are expanded.
int Channels(int color_type, bool has_transparency) {
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY:
      return has_transparency ? 2 : 1;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      return has_transparency ? 4 : 3;
  }
}

}  // namespace

absl::StatusOr<Raster> DecodePng(const EncodedImage& file) {
  Reader reader(file);
  Session* s = reader.session();
  FIRN_RETURN_IF(s == nullptr, ResourceExhausted(file.name, ": no memory to read a PNG"));
  if (!Guarded(s, ReadHeader) || s->has_message) return Failed(file, *s);
  const int type = png_get_color_type(s->png, s->info);
  const int depth = png_get_bit_depth(s->png, s->info);
  const int samples = png_get_channels(s->png, s->info);
  s->height = png_get_image_height(s->png, s->info);
  FIRN_ASSIGN_OR_RETURN(Raster raster, MakeRaster(file, png_get_image_width(s->png, s->info),
                                                  s->height, Channels(type, s->has_transparency),
                                                  depth == 16, int64_t{depth} * samples));
  s->rows = raster.row(0);
  s->row_bytes = static_cast<size_t>(raster.row_bytes());
  if (type == PNG_COLOR_TYPE_PALETTE) s->palette_channels = raster.channels;
  if (!Guarded(s, ReadRows)) return Failed(file, *s);
  return raster;
}

absl::StatusOr<std::string> EncodePng(const Raster& raster, const EncodePngOptions& options) {
  constexpr int kTypes[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  std::string bytes;
  Writer writer;
  Session* s = writer.session();
  FIRN_RETURN_IF(s == nullptr, ResourceExhausted("no memory to write a PNG"));
  s->out = &bytes;
  s->width = static_cast<png_uint_32>(raster.width);
  s->height = static_cast<png_uint_32>(raster.height);
  s->depth = raster.wide ? 16 : 8;
  s->color_type = kTypes[raster.channels - 1];
  s->level = options.level;
  s->rows = raster.row(0);
  s->row_bytes = static_cast<size_t>(raster.row_bytes());
  FIRN_RETURN_IF(!Guarded(s, WriteAll), ResourceExhausted("PNG: ", std::string(s->message)));
  return bytes;
}

}  // namespace firn::io::internal

// libpng reports an error by a function that must not return. Ours jumps to Guarded, whose frame
// and those between hold nothing that a destructor would have to clean up: what has one lives in
// the callers of Guarded.
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/internal/encode_image.h"
#include "firn/io/internal/raster.h"

// After <csetjmp>, and last: it is C.
#include <png.h>

namespace firn::io::internal {
namespace {

struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[160] = "out of memory";
  // Reading.
  const unsigned char* next = nullptr;
  size_t left = 0;
  bool has_transparency = false;
  unsigned char* rows = nullptr;
  size_t row_bytes = 0;
  png_uint_32 height = 0;
  // Writing.
  std::string* out = nullptr;
  png_uint_32 width = 0;
  int depth = 8, color_type = 0, level = 6;
};

void OnError(png_structp png, png_const_charp message) {
  auto* s = static_cast<Session*>(png_get_error_ptr(png));
  std::snprintf(s->message, sizeof(s->message), "%s", message);
  png_longjmp(png, 1);
}

void OnWarning(png_structp, png_const_charp) {}

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
    s_.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s_, OnError, OnWarning);
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
    s_.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s_, OnError, OnWarning);
    if (s_.png != nullptr) s_.info = png_create_info_struct(s_.png);
  }
  ~Writer() { png_destroy_write_struct(&s_.png, &s_.info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  Session* session() { return s_.info != nullptr ? &s_ : nullptr; }

 private:
  Session s_;
};

// The limits are ours: the library's are a million pixels a side, when it writes as well.
void LiftLimits(Session* s) { png_set_user_limits(s->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); }

void ReadHeader(Session* s) {
  png_set_read_fn(s->png, s, OnRead);
  LiftLimits(s);
  // Texts and colour profiles are not even unpacked.
  png_set_keep_unknown_chunks(s->png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(s->png, s->info);
  s->has_transparency = png_get_valid(s->png, s->info, PNG_INFO_tRNS) != 0;
}

void ReadRows(Session* s) {
  png_set_expand(s->png);  // palettes, fewer than 8 bits, transparent colours
  if constexpr (std::endian::native == std::endian::little) png_set_swap(s->png);
  const int passes = png_set_interlace_handling(s->png);
  png_read_update_info(s->png, s->info);
  if (png_get_rowbytes(s->png, s->info) != s->row_bytes) png_error(s->png, "size of a row");
  for (int pass = 0; pass < passes; ++pass) {
    for (png_uint_32 y = 0; y < s->height; ++y) {
      png_read_row(s->png, s->rows + y * s->row_bytes, nullptr);
    }
  }
  png_read_end(s->png, nullptr);
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
  return DamagedImage(file, "PNG",
                      absl::StrCat("before byte ", file.bytes.size() - s.left, ": ", s.message));
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
  if (!Guarded(s, ReadHeader)) return Failed(file, *s);
  const int type = png_get_color_type(s->png, s->info);
  const int depth = png_get_bit_depth(s->png, s->info);
  const int samples = png_get_channels(s->png, s->info);
  s->height = png_get_image_height(s->png, s->info);
  FIRN_ASSIGN_OR_RETURN(Raster raster, MakeRaster(file, png_get_image_width(s->png, s->info),
                                                  s->height, Channels(type, s->has_transparency),
                                                  depth == 16, int64_t{depth} * samples));
  s->rows = raster.row(0);
  s->row_bytes = static_cast<size_t>(raster.row_bytes());
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

// libjpeg reports an error by a function that must not return. Ours jumps to Guarded, so no frame
// between may hold an object with a destructor: such objects are made by the callers of Guarded,
// before the jump's target is set. Problems that the library repairs with a warning (missing data,
// bad codes) are errors here, unless no pixel depends on them. The library's errors are sorted into
// damage, legal kinds that are not read, and limits.
//
// The file is written into a string of the caller's. The library's own jpeg_mem_dest is not usable:
// it reports its buffer only after success, so after an error in the middle the caller has the
// address of a freed buffer, and the present one leaks.
#include <csetjmp>
#include <cstdio>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/image/internal/encode_image.h"
#include "firn/io/image/internal/jpeg_header.h"
#include "firn/io/image/internal/raster.h"

// Included last, since these are C headers that need <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

namespace firn::io::internal {
namespace {

constexpr int kMaxScans = 100;           // a progressive file of 1 MB can ask for thousands
constexpr int kTooManyScans = -1;        // beside the library's codes
constexpr size_t kPieceBytes = 1 << 14;  // that the encoder hands over at a time

// Zeroed structs of the library may be destroyed even before it has created them.
struct Session {
  jpeg_error_mgr errors;  // first, so that its address is the session's
  std::jmp_buf jump;
  jpeg_decompress_struct in;
  jpeg_compress_struct out;
  jpeg_progress_mgr progress;
  char message[JMSG_LENGTH_MAX];
  int code;  // of the library's errors; kTooManyScans
  const unsigned char* bytes;
  size_t size;
  unsigned char* rows;
  size_t row_bytes;
  unsigned char* cmyk_row;  // one row of four bytes a pixel, else null
  jpeg_destination_mgr destination;
  unsigned char* piece;  // of kPieceBytes
  std::string* written;
  bool grey;
  EncodeJpegOptions options;
  unsigned width, height;
  int channels;
};

void OnError(j_common_ptr info) {
  auto* s = reinterpret_cast<Session*>(info->err);
  info->err->format_message(info, s->message);
  s->code = info->err->msg_code;
  std::longjmp(s->jump, 1);
}

// Extra bytes between segments and behind the last scan are padding; before another marker within a
// scan they are the rest of a damaged scan.
bool IsPadding(const Session& s) {
  return s.errors.msg_code == JWRN_EXTRANEOUS_DATA &&
         (s.in.input_scan_number == 0 || s.errors.msg_parm.i[1] == JPEG_EOI);
}

void OnMessage(j_common_ptr info, int level) {
  const auto* s = reinterpret_cast<Session*>(info->err);
  const bool harmless = info->err->msg_code == JWRN_JFIF_MAJOR || IsPadding(*s);
  if (level < 0 && !harmless) OnError(info);
}

void OnOutput(j_common_ptr) {}

void OnProgress(j_common_ptr info) {
  auto* s = reinterpret_cast<Session*>(info->err);
  if (info->is_decompressor && s->in.input_scan_number > kMaxScans) {
    std::snprintf(s->message, sizeof(s->message), "more than %d scans", kMaxScans);
    s->code = kTooManyScans;
    std::longjmp(s->jump, 1);
  }
}

void Init(Session* s) {
  jpeg_std_error(&s->errors);
  s->errors.error_exit = OnError;
  s->errors.emit_message = OnMessage;
  s->errors.output_message = OnOutput;
  s->progress.progress_monitor = OnProgress;
}

// False when `work` ended by an error, with s->message set.
bool Guarded(Session* s, void (*work)(Session*)) {
  if (setjmp(s->jump) != 0) return false;
  work(s);
  return true;
}

void ReadHeader(Session* s) {
  s->in.err = &s->errors;
  jpeg_create_decompress(&s->in);
  s->in.progress = &s->progress;
  jpeg_mem_src(&s->in, s->bytes, static_cast<unsigned long>(s->size));
  jpeg_read_header(&s->in, TRUE);
}

// Adobe's files hold 255 minus the ink, others the ink.
void CmykToRgb(const unsigned char* cmyk, int64_t width, bool inverted, unsigned char* rgb) {
  for (int64_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    const int k = inverted ? cmyk[3] : 255 - cmyk[3];
    for (int c = 0; c < 3; ++c) rgb[c] = Light(inverted ? cmyk[c] : 255 - cmyk[c], k);
  }
}

void ReadRows(Session* s) {
  s->in.out_color_space = s->cmyk_row != nullptr ? JCS_CMYK : s->grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&s->in);
  while (s->in.output_scanline < s->in.output_height) {
    unsigned char* row = s->rows + s->in.output_scanline * s->row_bytes;
    unsigned char* to = s->cmyk_row != nullptr ? s->cmyk_row : row;
    jpeg_read_scanlines(&s->in, &to, 1);
    if (s->cmyk_row != nullptr) CmykToRgb(to, s->in.output_width, s->in.saw_Adobe_marker, row);
  }
  jpeg_finish_decompress(&s->in);
}

void StartPiece(j_compress_ptr info) {
  auto* s = reinterpret_cast<Session*>(info->err);
  s->destination.next_output_byte = s->piece;
  s->destination.free_in_buffer = kPieceBytes;
}

void TakePiece(Session* s, size_t bytes) {
  bool done = true;
  try {
    s->written->append(reinterpret_cast<const char*>(s->piece), bytes);
  } catch (const std::bad_alloc&) {
    done = false;
  }
  if (!done) ERREXIT1(&s->out, JERR_OUT_OF_MEMORY, 0);  // not within the handler: it jumps
}

boolean OnFullPiece(j_compress_ptr info) {
  TakePiece(reinterpret_cast<Session*>(info->err), kPieceBytes);
  StartPiece(info);
  return TRUE;
}

void OnEndOfFile(j_compress_ptr info) {
  auto* s = reinterpret_cast<Session*>(info->err);
  TakePiece(s, kPieceBytes - s->destination.free_in_buffer);
}

void WriteAll(Session* s) {
  s->out.err = &s->errors;
  jpeg_create_compress(&s->out);
  s->destination.init_destination = StartPiece;
  s->destination.empty_output_buffer = OnFullPiece;
  s->destination.term_destination = OnEndOfFile;
  s->out.dest = &s->destination;
  s->out.image_width = s->width;
  s->out.image_height = s->height;
  s->out.input_components = s->channels;
  s->out.in_color_space = s->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&s->out);
  jpeg_set_quality(&s->out, s->options.quality, TRUE);
  s->out.optimize_coding = TRUE;
  if (!s->options.halve_chroma) {
    s->out.comp_info[0].h_samp_factor = s->out.comp_info[0].v_samp_factor = 1;
  }
  if (s->options.progressive) jpeg_simple_progression(&s->out);
  jpeg_start_compress(&s->out, TRUE);
  while (s->out.next_scanline < s->out.image_height) {
    unsigned char* row = s->rows + s->out.next_scanline * s->row_bytes;
    jpeg_write_scanlines(&s->out, &row, 1);
  }
  jpeg_finish_compress(&s->out);
}

struct Reader {
  Session s{};
  Reader() { Init(&s); }
  ~Reader() { jpeg_destroy_decompress(&s.in); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

struct Writer {
  Session s{};
  unsigned char piece[kPieceBytes];
  explicit Writer(std::string* written) {
    Init(&s);
    s.piece = piece;
    s.written = written;
  }
  ~Writer() { jpeg_destroy_compress(&s.out); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
};

bool IsLimit(int code) {
  return code == kTooManyScans || code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE ||
         code == JERR_IMAGE_TOO_BIG || code == JERR_WIDTH_OVERFLOW;
}

// Only some versions of the library have an error code for arithmetic coding, so the header tells
// it.
bool IsUnread(int code) {
  return code == JERR_CONVERSION_NOTIMPL || code == JERR_CCIR601_NOTIMPL ||
         code == JERR_FRACT_SAMPLE_NOTIMPL || code == JERR_NOTIMPL || code == JERR_NOT_COMPILED ||
         code == JERR_SOF_UNSUPPORTED;
}

absl::Status Failed(const EncodedImage& file, const Session& s) {
  const size_t left = s.in.src != nullptr ? s.in.src->bytes_in_buffer : 0;
  const size_t at = left <= file.bytes.size() ? file.bytes.size() - left : file.bytes.size();
  const std::string text = absl::StrCat("before byte ", at, ": ", s.message);
  if (IsLimit(s.code)) return ResourceExhausted(file.name, ": JPEG: ", text);
  if (IsUnread(s.code)) return Unimplemented(file.name, ": JPEG: ", text);
  return DamagedImage(file, "JPEG", text);
}

}  // namespace

absl::StatusOr<Raster> DecodeJpeg(const EncodedImage& file) {
  Reader reader;
  Session* s = &reader.s;
  s->bytes = file.data();
  s->size = file.bytes.size();
  const JpegHeader header = ReadJpegHeader(file.bytes);
  FIRN_RETURN_IF(!header.unread.empty(), UnreadImage(file, "JPEG", header.unread));
  if (!Guarded(s, ReadHeader)) return Failed(file, *s);
  // For kinds that the segments in front do not show, such as a frame behind a scan.
  FIRN_RETURN_IF(s->in.arith_code, UnreadImage(file, "JPEG", "arithmetic coding"));
  const J_COLOR_SPACE space = s->in.jpeg_color_space;
  const bool cmyk = space == JCS_CMYK || space == JCS_YCCK;
  const bool color = space == JCS_YCbCr || space == JCS_RGB;
  FIRN_RETURN_IF(!cmyk && !color && space != JCS_GRAYSCALE,
                 UnreadImage(file, "JPEG",
                             absl::StrCat("a frame of ", s->in.num_components,
                                          " components of an unknown colour space")));
  s->grey =
      space == JCS_GRAYSCALE || (space == JCS_YCbCr && file.options.color == ImageColor::kGrey);
  FIRN_ASSIGN_OR_RETURN(Raster raster, MakeRaster(file, s->in.image_width, s->in.image_height,
                                                  s->grey ? 1 : 3, false, 8 * (cmyk ? 4 : 3)));
  // Progressive files keep coefficients of 2 bytes for the whole image.
  s->in.mem->max_memory_to_use = static_cast<long>(file.options.limits.max_bytes);
  std::string cmyk_row(cmyk ? size_t{s->in.image_width} * 4 : 0, '\0');
  if (cmyk) s->cmyk_row = reinterpret_cast<unsigned char*>(cmyk_row.data());
  s->rows = raster.row(0);
  s->row_bytes = static_cast<size_t>(raster.row_bytes());
  raster.orientation = header.orientation;
  if (!Guarded(s, ReadRows)) return Failed(file, *s);
  return raster;
}

absl::StatusOr<std::string> EncodeJpeg(const Raster& raster, const EncodeJpegOptions& options) {
  std::string bytes;
  Writer writer(&bytes);
  Session* s = &writer.s;
  s->options = options;
  s->width = static_cast<unsigned>(raster.width);
  s->height = static_cast<unsigned>(raster.height);
  s->channels = raster.channels;
  s->rows = raster.row(0);
  s->row_bytes = static_cast<size_t>(raster.row_bytes());
  FIRN_RETURN_IF(!Guarded(s, WriteAll), ResourceExhausted("JPEG: ", std::string(s->message)));
  return bytes;
}

}  // namespace firn::io::internal

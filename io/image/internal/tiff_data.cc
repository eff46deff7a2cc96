// libtiff reports by a message what it repairs: rows of faxes that end too early, runs that are too
// long, data that libjpeg makes up. Each message is an error here, except some that affect no
// pixel. Each open file has its own handler; the library's global handlers are left alone.
//
// It reads by callbacks and not from mapped memory, so that it cannot write into our memory. In
// that mode it refuses uncompressed tiles of less than 1024 bytes; where it must read such tiles,
// it gets a copy of the file.
//
// Once libtiff has all rows, it checks neither deflate's checksum nor the bytes behind them. If
// those bytes are not the checksum of the unpacked data (libtiff often uses libdeflate, in half of
// zlib's time), zlib unpacks the data again and says why. Data that libtiff converts are never seen
// unpacked, so zlib goes through them first. Strips and tiles without compression are copied.
#include "firn/io/image/internal/tiff_data.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"

namespace firn::io::internal {
namespace {

// Messages that affect no pixel: sizes beside the standard, and habits of old writers.
bool IsHarmless(std::string_view message) {
  constexpr std::string_view kHarmless[] = {"Nonstandard tile",
                                            "progressive mode, which is normally not legal",
                                            "Old-style LZW codes",
                                            "Auto-corrected former TIFF subsampling values",
                                            "Sum of Photometric type-related",
                                            "extraneous bytes before marker 0xd9"};
  return std::any_of(std::begin(kHarmless), std::end(kHarmless), [&](std::string_view text) {
    return message.find(text) != std::string_view::npos;
  });
}

bool IsUnread(std::string_view message) {
  constexpr std::string_view kUnread[] = {
      "Sorry",     "not implemented",     "not configured",          "\" not supported",
      "rithmetic", "JPEG data precision", "Unsupported JPEG process"};
  return std::any_of(std::begin(kUnread), std::end(kUnread), [&](std::string_view text) {
    return message.find(text) != std::string_view::npos;
  });
}

bool IsLimit(std::string_view message) {
  return message.find("limit") != std::string_view::npos ||
         message.find("libjpeg to allocate") != std::string_view::npos ||
         message.find("maximum scans") != std::string_view::npos;
}

template <class T>
void Accumulate(unsigned char* row, int64_t samples, int64_t stride) {
  for (int64_t i = stride; i < samples; ++i) {
    T v = 0, before = 0;
    std::memcpy(&v, row + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(&before, row + (i - stride) * static_cast<int64_t>(sizeof(T)), sizeof(T));
    v = static_cast<T>(v + before);
    std::memcpy(row + i * static_cast<int64_t>(sizeof(T)), &v, sizeof(T));
  }
}

struct Stream {
  z_stream z{};
  bool made = false;
  Stream() { made = inflateInit(&z) == Z_OK; }
  ~Stream() {
    if (made) inflateEnd(&z);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

}  // namespace

TiffData::TiffData(const EncodedImage& file, const TiffDirectory& directory)
    : file_(file), directory_(directory), input_{.file = file, .directory = directory} {}

// The file, in which the pruned directory stands for what was at its place.
tmsize_t TiffData::OnRead(thandle_t handle, void* out, tmsize_t n) {
  auto* input = static_cast<Input*>(handle);
  const uint64_t size = OnSize(handle);
  if (n <= 0 || input->at >= size) return 0;
  const uint64_t begin = input->at, end = begin + std::min(static_cast<uint64_t>(n), size - begin);
  const std::string& pruned = input->directory.pruned;
  const uint64_t pruned_begin = input->directory.pruned_at;
  const uint64_t pruned_end = pruned_begin + pruned.size();
  auto* to = static_cast<char*>(out);
  // First the file's bytes, then over them the directory's.
  if (const auto whole = static_cast<uint64_t>(input->file.size()); begin < whole) {
    std::memcpy(to, input->file.data() + begin, std::min(end, whole) - begin);
  }
  if (begin < pruned_end && end > pruned_begin) {
    const uint64_t from = std::max(begin, pruned_begin);
    std::memcpy(to + (from - begin), pruned.data() + (from - pruned_begin),
                std::min(end, pruned_end) - from);
  }
  input->at = end;
  return static_cast<tmsize_t>(end - begin);
}

tmsize_t TiffData::OnWrite(thandle_t, void*, tmsize_t) { return -1; }

toff_t TiffData::OnSeek(thandle_t handle, toff_t offset, int whence) {
  auto* input = static_cast<Input*>(handle);
  const uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? input->at : OnSize(handle);
  input->at = base + offset;  // beyond the end there is nothing to read
  return input->at;
}

int TiffData::OnClose(thandle_t) { return 0; }

// A directory at the end of the file may lack the offset of the next one.
toff_t TiffData::OnSize(thandle_t handle) {
  const auto* input = static_cast<Input*>(handle);
  return std::max<uint64_t>(static_cast<uint64_t>(input->file.size()),
                            input->directory.pruned_at + input->directory.pruned.size());
}

int TiffData::OnMap(thandle_t handle, void** base, toff_t* size) {
  auto* input = static_cast<Input*>(handle);
  input->mapped.resize(OnSize(handle));
  input->at = 0;
  OnRead(handle, input->mapped.data(), static_cast<tmsize_t>(input->mapped.size()));
  input->at = 0;
  *base = input->mapped.data();
  *size = input->mapped.size();
  return 1;
}

void TiffData::OnUnmap(thandle_t, void*, toff_t) {}

// 1: no other handler needs the message.
int TiffData::OnMessage(TIFF*, void* data, const char*, const char* format, va_list args) {
  auto* input = static_cast<Input*>(data);
  if (input->message[0] != '\0') return 1;
  std::vsnprintf(input->message, sizeof(input->message), format, args);
  if (IsHarmless(input->message)) input->message[0] = '\0';
  return 1;
}

absl::Status TiffData::Failed() const {
  const std::string text = input_.message[0] != '\0' ? input_.message : "not readable";
  if (IsLimit(text)) return ResourceExhausted(file_.name, ": TIFF: ", text, " (limits.max_bytes)");
  if (IsUnread(text)) return Unimplemented(file_.name, ": TIFF: ", text);
  return DamagedImage(file_, "TIFF", text);
}

absl::Status TiffData::Open() {
  if (tiff_ != nullptr) return absl::OkStatus();
  if (tried_) return Failed();  // it takes time as the directory is long
  tried_ = true;
  TIFFOpenOptions* open = TIFFOpenOptionsAlloc();
  FIRN_RETURN_IF(open == nullptr, ResourceExhausted(file_.name, ": no memory to read a TIFF"));
  TIFFOpenOptionsSetErrorHandlerExtR(open, OnMessage, &input_);
  TIFFOpenOptionsSetWarningHandlerExtR(open, OnMessage, &input_);
  // A tile, of whatever size the file says, is one piece of memory.
  const ImageLimits& limits = file_.options.limits;
  const int64_t most = file_.size() > limits.max_bytes / limits.max_expansion
                           ? limits.max_bytes
                           : std::max(file_.size() * limits.max_expansion, kFreeBytes);
  TIFFOpenOptionsSetMaxSingleMemAlloc(open, static_cast<tmsize_t>(most));
  const bool mapped = directory_.tiled && directory_.compression == COMPRESSION_NONE;
  tiff_.reset(TIFFClientOpenExt("", mapped ? "r" : "rm", &input_, OnRead, OnWrite, OnSeek, OnClose,
                                OnSize, OnMap, OnUnmap, open));
  TIFFOpenOptionsFree(open);
  FIRN_RETURN_IF(tiff_ == nullptr || input_.message[0] != '\0', Failed());
  return absl::OkStatus();
}

absl::Status TiffData::ReadStored(uint32_t segment, unsigned char* out, int64_t n) const {
  const uint64_t has = directory_.byte_counts[segment];
  FIRN_RETURN_IF(has < static_cast<uint64_t>(n),
                 DamagedImage(file_, "TIFF",
                              absl::StrCat("strip or tile ", segment, ": expected ", n,
                                           " bytes, got ", has, ": it ends early")));
  std::memcpy(out, file_.data() + directory_.offsets[segment], static_cast<size_t>(n));
  if (directory_.fill_order == 2) TIFFReverseBits(out, n);
  return absl::OkStatus();
}

absl::Status TiffData::Inflate(uint32_t segment, unsigned char* out, int64_t n,
                               int64_t most) const {
  const auto damaged = [&](const char* what) {
    return DamagedImage(file_, "TIFF", absl::StrCat("strip or tile ", segment, ": ", what));
  };
  std::string_view packed =
      file_.bytes.substr(directory_.offsets[segment], directory_.byte_counts[segment]);
  std::string turned;
  if (directory_.fill_order == 2) {
    turned = std::string(packed);
    TIFFReverseBits(reinterpret_cast<uint8_t*>(turned.data()),
                    static_cast<tmsize_t>(turned.size()));
    packed = turned;
  }
  FIRN_RETURN_IF(packed.size() > ~uInt{0} || static_cast<uint64_t>(n) > ~uInt{0},
                 ResourceExhausted(file_.name, ": TIFF: a strip or tile of more than 4 GiB"));
  Stream stream;
  FIRN_RETURN_IF(!stream.made, ResourceExhausted(file_.name, ": no memory to read a TIFF"));
  z_stream& z = stream.z;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  z.next_out = out;
  z.avail_out = static_cast<uInt>(n);
  int code = inflate(&z, Z_FINISH);
  // The last strip may have all the rows of the others. Its checksum comes behind those rows.
  int64_t surplus = most - n;
  while ((code == Z_OK || code == Z_BUF_ERROR) && z.avail_out == 0 && surplus >= 0) {
    Bytef rest[4096];
    z.next_out = rest;
    z.avail_out = sizeof(rest);
    code = inflate(&z, Z_FINISH);
    surplus -= static_cast<int64_t>(sizeof(rest) - z.avail_out);
    if (z.avail_out > 0) break;
  }
  FIRN_RETURN_IF(surplus < 0, damaged("its data are longer than its rows"));
  FIRN_RETURN_IF(code == Z_DATA_ERROR, damaged(z.msg != nullptr ? z.msg : "not deflate's"));
  FIRN_RETURN_IF(code == Z_MEM_ERROR, ResourceExhausted(file_.name, ": no memory to unpack it"));
  FIRN_RETURN_IF(code != Z_STREAM_END || static_cast<int64_t>(z.total_out) < n,
                 damaged("its data end early"));
  return absl::OkStatus();
}

bool TiffData::InflatesByLibrary(uint32_t segment, unsigned char* out, int64_t n) {
  const uint64_t end = directory_.offsets[segment] + directory_.byte_counts[segment];
  const bool swapped = directory_.big_endian != (std::endian::native == std::endian::big);
  if (directory_.fill_order == 2 || directory_.byte_counts[segment] < 6 ||
      (directory_.bits == 16 && swapped)) {
    return false;  // the result is not what was packed
  }
  // With libdeflate it accepts data that do not fit, and leaves the rest of the buffer as it was.
  std::memset(out, 0, static_cast<size_t>(n));
  const bool read = ReadByLibrary(segment, out, n).ok();
  input_.message[0] = '\0';  // zlib will report it
  uint32_t stored = 0;
  for (uint64_t i = end - 4; i < end; ++i) stored = stored << 8 | file_.data()[i];
  return read && adler32_z(adler32_z(0, nullptr, 0), out, static_cast<size_t>(n)) == stored;
}

absl::Status TiffData::ReadByLibrary(uint32_t segment, unsigned char* out, int64_t n) {
  FIRN_RETURN_IF_ERROR(Open());
  const tmsize_t got = directory_.tiled ? TIFFReadEncodedTile(tiff_.get(), segment, out, n)
                                        : TIFFReadEncodedStrip(tiff_.get(), segment, out, n);
  FIRN_RETURN_IF(got != n || input_.message[0] != '\0', Failed());
  return absl::OkStatus();
}

absl::Status TiffData::Restore(unsigned char* out, int64_t n) const {
  const bool wide = directory_.bits == 16;
  const bool swapped = directory_.big_endian != (std::endian::native == std::endian::big);
  if (wide && swapped) {
    for (int64_t i = 0; i + 1 < n; i += 2) std::swap(out[i], out[i + 1]);
  }
  if (directory_.compression == COMPRESSION_NONE || directory_.predictor == PREDICTOR_NONE) {
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(directory_.predictor != PREDICTOR_HORIZONTAL || (!wide && directory_.bits != 8),
                 UnreadImage(file_, "TIFF",
                             absl::StrCat("predictor ", directory_.predictor, " of ",
                                          directory_.bits, " bits")));
  const int64_t row = directory_.segment_row_bytes(), stride = directory_.samples_in_segment();
  const int64_t samples = int64_t{directory_.segment_width} * stride;
  for (int64_t at = 0; at + row <= n; at += row) {
    wide ? Accumulate<uint16_t>(out + at, samples, stride)
         : Accumulate<uint8_t>(out + at, samples, stride);
  }
  return absl::OkStatus();
}

absl::Status TiffData::Read(uint32_t segment, unsigned char* out, int64_t n) {
  switch (directory_.compression) {
    case COMPRESSION_NONE:
      FIRN_RETURN_IF_ERROR(ReadStored(segment, out, n));
      return Restore(out, n);
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
      if (!InflatesByLibrary(segment, out, n)) {
        FIRN_RETURN_IF_ERROR(
            Inflate(segment, out, n, directory_.segment_row_bytes() * directory_.segment_height));
      }
      return Restore(out, n);
    default:
      return ReadByLibrary(segment, out, n);
  }
}

absl::Status TiffData::CheckDeflate() const {
  // Only the library knows how many bytes the rows of a halved chroma have.
  const auto bytes_of = [&](int64_t rows) -> int64_t {
    return directory_.tiled ? TIFFTileSize(tiff_.get())
                            : TIFFVStripSize(tiff_.get(), static_cast<uint32_t>(rows));
  };
  const int64_t across = directory_.segments_across(), down = directory_.segments_down();
  const int64_t most = bytes_of(directory_.segment_height);
  FIRN_RETURN_IF(most <= 0 || input_.message[0] != '\0', Failed());
  std::string unpacked(static_cast<size_t>(most), '\0');
  for (size_t i = 0; i < directory_.offsets.size(); ++i) {
    const int64_t y = static_cast<int64_t>(i) / across % down * directory_.segment_height;
    const int64_t n = bytes_of(std::min<int64_t>(directory_.segment_height, directory_.height - y));
    FIRN_RETURN_IF_ERROR(Inflate(static_cast<uint32_t>(i),
                                 reinterpret_cast<unsigned char*>(unpacked.data()), n, most));
  }
  return absl::OkStatus();
}

absl::Status TiffData::ReadConverted(uint32_t* pixels) {
  FIRN_RETURN_IF_ERROR(Open());
  const bool deflate = directory_.compression == COMPRESSION_DEFLATE ||
                       directory_.compression == COMPRESSION_ADOBE_DEFLATE;
  char why[1024] = "";
  TIFFRGBAImage image = {};
  // Kinds that the library does not convert, such as planes of halved chroma, may differ from the
  // sizes that it reports without being damaged.
  if (TIFFRGBAImageOK(tiff_.get(), why) != 1 ||
      (deflate && TIFFRGBAImageBegin(&image, tiff_.get(), 1, why) != 1)) {
    if (input_.message[0] == '\0')
      std::snprintf(input_.message, sizeof(input_.message), "%.199s", why);
    return Failed();
  }
  if (deflate) {
    TIFFRGBAImageEnd(&image);
    FIRN_RETURN_IF_ERROR(CheckDeflate());
    // libdeflate would give no rows of a last strip that has more than the image.
    TIFFSetField(tiff_.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
  }
  FIRN_RETURN_IF(TIFFReadRGBAImageOriented(tiff_.get(), directory_.width, directory_.height, pixels,
                                           ORIENTATION_TOPLEFT, 1) != 1 ||
                     input_.message[0] != '\0',
                 Failed());
  return absl::OkStatus();
}

}  // namespace firn::io::internal

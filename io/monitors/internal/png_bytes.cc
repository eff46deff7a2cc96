// Signature, IHDR, one IDAT and IEND. Each row is filtered by "Sub" (the difference to the pixel on
// the left), which zlib packs better than the pixels, unless it is the first row's like again: then
// "Up" gives zeros. Curves and tiles have many such rows.
#include "io/monitors/internal/png_bytes.h"

#include <zlib.h>

#include <cstring>

#include "device/status_macros.h"

namespace firn::io::internal {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 20;

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
  return bytes;
}

void AppendChunk(const char* type, const std::string& data, std::string* out) {
  const std::string body = type + data;
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  *out += BigEndian(static_cast<uint32_t>(data.size()));
  *out += body;
  *out += BigEndian(static_cast<uint32_t>(crc));
}

std::string Filtered(const Picture& p) {
  constexpr char kSub = 1, kUp = 2;
  const auto stride = static_cast<size_t>(p.width * p.channels);
  const auto step = static_cast<size_t>(p.channels);
  std::string rows;
  rows.reserve((stride + 1) * static_cast<size_t>(p.height));
  for (size_t y = 0; y < static_cast<size_t>(p.height); ++y) {
    const char* row = p.pixels.data() + y * stride;
    if (y > 0 && std::memcmp(row, row - stride, stride) == 0) {
      rows += kUp;
      rows.append(stride, '\0');
      continue;
    }
    rows += kSub;
    for (size_t x = 0; x < stride; ++x) {
      rows += static_cast<char>(x < step ? row[x] : row[x] - row[x - step]);
    }
  }
  return rows;
}

}  // namespace

absl::StatusOr<std::string> PngBytes(const Picture& p) {
  FIRN_RETURN_IF(
      p.width < 1 || p.height < 1 || p.width > kMaxSide || p.height > kMaxSide || p.channels < 1 ||
          p.channels > 4,
      InvalidArgument("png: a picture of ", p.width, " x ", p.height, " pixels of ", p.channels,
                      " channels (want 1 to ", kMaxSide, " each way and 1 to 4 channels)"));
  const int64_t bytes = p.width * p.height * p.channels;
  FIRN_RETURN_IF(static_cast<int64_t>(p.pixels.size()) != bytes,
                 InvalidArgument("png: ", p.pixels.size(), " bytes of pixels (want ", bytes, ")"));
  const std::string rows = Filtered(p);
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  const int result = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                               reinterpret_cast<const Bytef*>(rows.data()), rows.size(), 6);
  FIRN_RETURN_IF(result != Z_OK, ResourceExhausted("png: zlib's error ", result));
  packed.resize(size);
  FIRN_RETURN_IF(size > 0x7fffffff, InvalidArgument("png: the picture is too large"));
  constexpr char kColourTypes[] = {0, 4, 2, 6};
  std::string out("\x89PNG\r\n\x1a\n", 8);
  std::string header = BigEndian(static_cast<uint32_t>(p.width));
  header += BigEndian(static_cast<uint32_t>(p.height));
  header += '\x08';  // bits
  header += kColourTypes[p.channels - 1];
  header.append(3, '\0');  // deflate, filters by row, not interlaced
  AppendChunk("IHDR", header, &out);
  AppendChunk("IDAT", packed, &out);
  AppendChunk("IEND", "", &out);
  return out;
}

}  // namespace firn::io::internal

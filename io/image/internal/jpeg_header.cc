// A JPEG (ITU-T T.81, annex B) begins with segments: FF, the marker, a big-endian u16 of the length
// that counts itself, then as many bytes. libjpeg could keep them for us, but it puts each at the
// end of a list that it walks to there: a file of n segments would take time n^2. The frame's
// marker (SOF, C0 to CF but for C4, C8 and CC) names the process of coding; of those that T.81 and
// its followers have, libjpeg reads three and calls some of the others damaged. Hierarchical files
// (DHP, DE) have a segment like a frame's before the first frame, which tells them.
#include "firn/io/image/internal/jpeg_header.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "firn/io/image/internal/raster.h"

namespace firn::io::internal {
namespace {

constexpr unsigned kApp1 = 0xe1, kStartOfScan = 0xda, kEndOfImage = 0xd9;
constexpr unsigned kHierarchy = 0xde, kJpegLs = 0xf7;

// Standing alone, without a length.
bool IsBare(unsigned marker) { return marker == 1 || (marker >= 0xd0 && marker <= 0xd8); }

bool IsFrame(unsigned marker) {
  return (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc) ||
         marker == kHierarchy || marker == kJpegLs;
}

// Empty for files that are read, and for damaged ones.
std::string UnreadProcess(unsigned marker, std::string_view frame) {
  const auto byte = [&](size_t i) {
    return i < frame.size() ? static_cast<unsigned char>(frame[i]) : 0u;
  };
  if (marker == kJpegLs) return "JPEG-LS";
  if (marker == 0xc3) return "lossless coding";
  if (marker == kHierarchy || (marker >= 0xc5 && marker <= 0xc7)) return "hierarchical coding";
  if (marker >= 0xc9) return "arithmetic coding";
  const unsigned bits = byte(0), height = byte(1) << 8 | byte(2), components = byte(5);
  // In a baseline frame (C0) no other than 8 is legal.
  if (bits == 12 && marker != 0xc0) return "coding with 12 bits a sample";
  if (frame.size() >= 6 && height == 0) return "a height that follows the first scan (DNL)";
  if (components > 4) return absl::StrCat("a frame of ", components, " components");
  return "";
}

}  // namespace

JpegHeader ReadJpegHeader(std::string_view file) {
  JpegHeader header;
  size_t at = 2;  // behind the start of the image
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(file[i]); };
  for (;;) {
    while (at < file.size() && byte(at) != 0xff) ++at;
    while (at < file.size() && byte(at) == 0xff) ++at;  // any number of them is padding
    if (at >= file.size()) return header;
    const unsigned marker = byte(at++);
    if (marker == kStartOfScan || marker == kEndOfImage) return header;
    if (marker == 0 || IsBare(marker)) continue;
    if (file.size() - at < 2) return header;
    const size_t length = size_t{byte(at)} << 8 | byte(at + 1);
    if (length < 2 || length > file.size() - at) return header;
    const std::string_view data = file.substr(at + 2, length - 2);
    if (marker == kApp1 && header.orientation == 1) header.orientation = ExifOrientation(data);
    if (IsFrame(marker) && header.unread.empty()) header.unread = UnreadProcess(marker, data);
    at += length;
  }
}

}  // namespace firn::io::internal

// All image formats are registered as one; the decoder tells them apart.
#include <algorithm>

#include "firn/io/formats/formats.h"
#include "firn/io/image/image.h"

namespace firn::io {
namespace {

bool IsImage(const FileHead& head) {
  const std::string& b = head.bytes;
  for (const char* magic : {"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "II*", "MM"}) {
    if (b.starts_with(magic)) return true;
  }
  const bool pnm = b.size() > 2 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
                   (b[2] == '\n' || b[2] == ' ' || b[2] == '#' || b[2] == '\r' || b[2] == '\t');
  return pnm || (b.starts_with("BM") && b.size() >= 14);
}

}  // namespace

FIRN_FILE_FORMAT(image) {
  return {.name = "image",
          .holds = FileHolds::kImage,
          .suffixes = {".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff"},
          .recognises = IsImage,
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                DecodeImageOptions image{.keep_16_bits = true};
                image.limits.max_bytes =
                    std::min(image.limits.max_bytes, options.limits.max_total_bytes);
                return StateDict{{"image", ReadImage(path, image)}};
              },
          .read_array =
              [](const std::string& path, const ReadArrayOptions& options) {
                return ReadImage(path,
                                 options.image == nullptr ? DecodeImageOptions() : *options.image);
              }};
}

}  // namespace firn::io

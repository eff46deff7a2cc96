// Checksums of PNG chunks stop nearly every mutation, so each PNG is read a second time with right
// ones. The result is compared with that of another way to decode.
#include <zlib.h>

#include <string>
#include <string_view>

#include "firn/io/image/image_status.h"
#include "tests/fuzz/image_oracle.h"
#include "tests/fuzz/reader.h"

namespace firn::io {
namespace {

void PutCrc(std::string* png, size_t at, size_t n) {
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(png->data()) + at, n);
  for (size_t i = 0; i < 4; ++i) {
    (*png)[at + n + i] = static_cast<char>(crc >> (24 - 8 * i) & 255);
  }
}

std::string WithRightChecksums(std::string png) {
  constexpr size_t kSignature = 8, kAround = 12;  // length, name and checksum of a chunk
  for (size_t at = kSignature; at + kAround <= png.size();) {
    size_t n = 0;
    for (size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(png[at + i]);
    if (n > png.size() - at - kAround) break;
    PutCrc(&png, at + 4, n + 4);
    at += n + kAround;
  }
  return png;
}

bool Decode(std::string_view bytes, const DecodeImageOptions& options) {
  const absl::StatusOr<Tensor> image = TryParseImage(bytes, "fuzz", options);
  if (image.ok()) {
    testing::FuzzCheck(image->size(1) * image->size(2) <= options.limits.max_pixels,
                       "limits are kept");
    CheckDecoded(bytes, options, *image);
  }
  return image.ok();
}

FIRN_FUZZ_READER(image) {
  // The last byte, which few formats look at, chooses the options, so that all come up.
  const int wish = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.back());
  const DecodeImageOptions options = {.color = static_cast<ImageColor>(wish & 3),
                                      .keep_16_bits = (wish & 4) != 0,
                                      .limits = {.max_pixels = 1 << 18, .max_bytes = 1 << 22}};
  const bool read = Decode(bytes, options);
  if (!bytes.starts_with("\x89PNG")) return read;
  return Decode(WithRightChecksums(std::string(bytes)), options) || read;
}

}  // namespace
}  // namespace firn::io

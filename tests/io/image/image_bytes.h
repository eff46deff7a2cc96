#ifndef FIRN_TESTS_IO_IMAGE_IMAGE_BYTES_H_
#define FIRN_TESTS_IO_IMAGE_IMAGE_BYTES_H_

// Image files put together byte by byte, for forms that no library writes.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace firn::io {

std::string Little(uint64_t v, int bytes);
std::string Big(uint64_t v, int bytes);

// A chunk of a PNG with its checksum, and a PNG of these chunks; IHDR's contents.
std::string PngChunk(std::string_view name, std::string_view data);
std::string PngOf(const std::vector<std::string>& chunks);
std::string PngHeader(uint32_t width, uint32_t height, int bits, int color_type);
// By deflate, with zlib's checksum.
std::string Deflate(std::string_view bytes);

// A segment of a JPEG, and `jpeg` with `segments` behind its first two bytes.
std::string JpegSegment(int marker, std::string_view data);
std::string WithSegments(const std::string& jpeg, const std::string& segments);

// A GIF of one image and four colours (black, red, green, blue): `before` stands before the image,
// whose data are codes with the bits of each, in pieces of at most `piece` bytes.
struct GifCode {
  unsigned code, bits;
};
std::string GifOf(int width, int height, const std::vector<GifCode>& codes,
                  std::string_view before = "", size_t piece = 255);

// A tag of a TIFF: type 1 (bytes), 3 (u16) or 4 (u32).
struct TiffTag {
  int tag, type;
  std::vector<uint32_t> values;
};
// A TIFF whose `data` begin at byte 8 and whose directory has these tags in this order.
std::string TiffOf(const std::vector<TiffTag>& tags, std::string_view data,
                   bool big_endian = false);
// The tags of an image in one strip of `bytes` bytes; a tag of `more` takes the place of one of the
// same number.
std::vector<TiffTag> TiffTags(uint32_t width, uint32_t height, uint32_t bits, uint32_t samples,
                              uint32_t photometric, uint32_t bytes,
                              const std::vector<TiffTag>& more = {});

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_IMAGE_IMAGE_BYTES_H_

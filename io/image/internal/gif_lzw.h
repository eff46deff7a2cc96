#ifndef FIRN_IO_IMAGE_INTERNAL_GIF_LZW_H_
#define FIRN_IO_IMAGE_INTERNAL_GIF_LZW_H_

#include <cstddef>
#include <cstdint>

namespace firn::io::internal {

// The outcome of unpacking one image.
struct GifPixels {
  const char* damage = nullptr;  // what is wrong, null where all is right
  size_t read = 0;               // how many bytes were looked at
};

// Unpacks the `pixels` colour numbers of an image whose data (pieces of a length and as many bytes,
// the last of length 0) begin at `data`, `size` bytes before the file's end, into `out`. Codes are
// of code_bits + 1 bits at first.
GifPixels ReadGifPixels(const unsigned char* data, size_t size, unsigned code_bits, uint8_t* out,
                        size_t pixels);

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_GIF_LZW_H_

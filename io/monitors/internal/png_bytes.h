#ifndef FIRN_IO_MONITORS_INTERNAL_PNG_BYTES_H_
#define FIRN_IO_MONITORS_INTERNAL_PNG_BYTES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace firn::io::internal {

// Pixels of 8 bits, row by row, the channels of a pixel together: 1 (grey), 2 (grey, alpha), 3
// (RGB) or 4 (RGBA).
struct Picture {
  int64_t width = 0, height = 0, channels = 0;
  std::string pixels;
};

// A PNG file (ISO/IEC 15948). InvalidArgument unless the sizes are 1 to 2^20, the channels 1 to 4
// and the pixels as many as they say.
absl::StatusOr<std::string> PngBytes(const Picture& picture);

}  // namespace firn::io::internal

#endif  // FIRN_IO_MONITORS_INTERNAL_PNG_BYTES_H_

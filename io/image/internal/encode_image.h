#ifndef FIRN_IO_IMAGE_INTERNAL_ENCODE_IMAGE_H_
#define FIRN_IO_IMAGE_INTERNAL_ENCODE_IMAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/image/image.h"
#include "firn/io/image/internal/raster.h"

namespace firn::io::internal {

// The raster as a file. ResourceExhausted without memory. Requires options in range, sides below
// 2^31 (PNG) or 2^16 (JPEG), 1 or 3 channels of bytes for JPEG.
absl::StatusOr<std::string> EncodePng(const Raster& raster, const EncodePngOptions& options);
absl::StatusOr<std::string> EncodeJpeg(const Raster& raster, const EncodeJpegOptions& options);

}  // namespace firn::io::internal

#endif  // FIRN_IO_IMAGE_INTERNAL_ENCODE_IMAGE_H_

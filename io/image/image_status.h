#ifndef FIRN_IO_IMAGE_IMAGE_STATUS_H_
#define FIRN_IO_IMAGE_IMAGE_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/image/image.h"

namespace firn::io {

// DecodeImage and ReadImage with a status; `name` stands for the path in messages.
absl::StatusOr<Tensor> TryParseImage(std::string_view bytes, const std::string& name,
                                     const DecodeImageOptions& options = {});
absl::StatusOr<Tensor> TryReadImage(const std::string& path,
                                    const DecodeImageOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_IMAGE_IMAGE_STATUS_H_

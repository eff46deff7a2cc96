#ifndef FIRN_IO_ONNX_ONNX_STATUS_H_
#define FIRN_IO_ONNX_ONNX_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/onnx/onnx.h"

namespace firn::io {

// The functions of onnx.h with a status.
absl::StatusOr<OnnxImport> TryImportOnnx(const std::string& path,
                                         const OnnxImportOptions& options = {});
// A file in memory, which is copied; it has no elements in other files. `name` stands for the path
// in messages.
absl::StatusOr<OnnxImport> TryParseOnnx(std::string_view bytes, const std::string& name,
                                        const OnnxImportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_STATUS_H_

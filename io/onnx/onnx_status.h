#ifndef FIRN_IO_ONNX_ONNX_STATUS_H_
#define FIRN_IO_ONNX_ONNX_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"

namespace firn::io {

// The functions of onnx.h and onnx_export.h with a status.
absl::StatusOr<OnnxImport> TryImportOnnx(const std::string& path,
                                         const OnnxImportOptions& options = {});
// A file in memory, which is copied; it has no elements in other files. `name` stands for the path
// in messages.
absl::StatusOr<OnnxImport> TryParseOnnx(std::string_view bytes, const std::string& name,
                                        const OnnxImportOptions& options = {});
absl::StatusOr<OnnxExportReport> TryExportOnnx(const std::string& path, const inner::Graph& graph,
                                               const OnnxExportOptions& options = {});
absl::StatusOr<OnnxExportReport> TryExportOnnx(const std::string& path, const StaticGraph& graph,
                                               const OnnxExportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_STATUS_H_

#ifndef FIRN_IO_ONNX_ONNX_EXPORT_STATUS_H_
#define FIRN_IO_ONNX_ONNX_EXPORT_STATUS_H_

#include <string>

#include "absl/status/statusor.h"
#include "firn/io/onnx/onnx_export.h"

namespace firn::io {

// ExportOnnx with a status.
absl::StatusOr<OnnxExportReport> TryExportOnnx(const std::string& path, const inner::Graph& graph,
                                               const OnnxExportOptions& options = {});
absl::StatusOr<OnnxExportReport> TryExportOnnx(const std::string& path, const StaticGraph& graph,
                                               const OnnxExportOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_ONNX_ONNX_EXPORT_STATUS_H_

#include "firn/io/onnx/onnx_export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_export_graph.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

absl::StatusOr<OnnxExportReport> Export(const std::string& path, const Graph& graph,
                                        const OnnxExportOptions& options) {
  FIRN_ASSIGN_OR_RETURN(internal::ExportedModel exported, internal::OnnxModelOf(graph, options));
  FIRN_RETURN_IF_ERROR(options.external_data
                           ? internal::WriteOnnxModelWithData(path, std::move(exported.model))
                           : internal::WriteOnnxModel(path, exported.model));
  return std::move(exported.report);
}

}  // namespace

absl::StatusOr<OnnxExportReport> TryExportOnnx(const std::string& path, const inner::Graph& graph,
                                               const OnnxExportOptions& options) {
  absl::StatusOr<OnnxExportReport> report = Export(path, graph, options);
  if (report.ok()) return report;
  return absl::Status(report.status().code(),
                      absl::StrCat("export ", path, ": ", std::string(report.status().message())));
}

absl::StatusOr<OnnxExportReport> TryExportOnnx(const std::string& path, const StaticGraph& graph,
                                               const OnnxExportOptions& options) {
  return TryExportOnnx(path, graph.captured(), options);
}

OnnxExportReport ExportOnnx(const std::string& path, const inner::Graph& graph,
                            const OnnxExportOptions& options) {
  return ValueOrRaise(TryExportOnnx(path, graph, options), "");
}

OnnxExportReport ExportOnnx(const std::string& path, const StaticGraph& graph,
                            const OnnxExportOptions& options) {
  return ValueOrRaise(TryExportOnnx(path, graph, options), "");
}

}  // namespace firn::io

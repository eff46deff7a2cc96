#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_GRAPH_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_GRAPH_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/onnx/onnx_export.h"

namespace firn::io::internal {

struct ExportedModel {
  OnnxModel model;
  OnnxExportReport report;
};

// The model that TryExportOnnx writes.
absl::StatusOr<ExportedModel> OnnxModelOf(const Graph& graph, const OnnxExportOptions& options);

// Leaves out nodes whose results nothing reads, and initializers and results that nothing names.
void DropUnused(OnnxGraph* graph);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_GRAPH_H_

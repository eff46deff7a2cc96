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

// What TryExportOnnx writes.
absl::StatusOr<ExportedModel> OnnxModelOf(const Graph& graph, const OnnxExportOptions& options);

// The graph as it were had dimension 0 of its inputs `batch` elements: shapes are inferred anew,
// with sizes in attributes that were the batch, or a multiple of it. Kernels, constants and states
// are as they were; nobody runs it. Unimplemented, naming the operation that does not fit.
absl::StatusOr<Graph> WithBatch(const Graph& graph, int64_t batch);

// Leaves out nodes whose results nobody reads, and initializers and results that nothing names.
void DropUnused(OnnxGraph* graph);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_EXPORT_GRAPH_H_

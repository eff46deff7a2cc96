// For an ONNX file the initializers are tensors, in the order of the file. Messages have no
// signature, so the name tells the format.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/graph/graph_info_text.h"
#include "firn/io/graph/save.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/onnx/onnx.h"
#include "firn/io/onnx/onnx_export.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

absl::StatusOr<StateDict> Weights(const std::string& path, const LoadOptions& options) {
  FIRN_ASSIGN_OR_RETURN(internal::OnnxModel model, internal::ReadOnnxModel(path, options.limits));
  FIRN_RETURN_IF_ERROR(internal::CheckOnnxModel(&model));
  internal::OnnxElements elements(model.file, model.folder, options.limits);
  StateDict weights;
  for (const internal::OnnxTensor& tensor : model.graph.initializers) {
    if (options.want && !options.want(tensor.name)) continue;
    FIRN_ASSIGN_OR_RETURN(Tensor read, elements.Read(tensor));
    weights.Insert(tensor.name, std::move(read));
  }
  return weights;
}

absl::StatusOr<GraphInfo> Info(const std::string& path, const LoadLimits& limits,
                               const inner::Graph& graph) {
  FIRN_ASSIGN_OR_RETURN(const internal::OnnxModel model, internal::ReadOnnxModel(path, limits));
  for (const auto& [key, text] : model.metadata) {
    if (key != kGraphInfoKey) continue;
    absl::StatusOr<GraphInfo> info = TryParseGraphInfo(text, graph, limits);
    if (info.ok()) return info;
    return absl::Status(info.status().code(), absl::StrCat(path, ": metadata_props ", key, ": ",
                                                           info.status().message()));
  }
  return GraphInfo();
}

std::vector<std::string> Write(const std::string& path, const inner::Graph& graph,
                               const SaveOptions& options) {
  OnnxExportOptions written = {.dynamic_batch = options.any_batch, .names = options.names};
  if (options.info != GraphInfo()) {
    written.metadata.Insert(kGraphInfoKey, GraphInfoText(options.info));
  }
  return ExportOnnx(path, graph, written).warnings;
}

}  // namespace

FIRN_FILE_FORMAT(onnx) {
  return {.name = "ONNX",
          .holds = FileHolds::kGraph,
          .read_suffixes = {".onnx"},
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return ValueOrRaise(Weights(path, options), "load");
              },
          .read_network =
              [](const std::string& path, const ReadNetworkOptions& options) {
                // Sizes that the file leaves open are those of the inputs.
                return ImportOnnx(path, {.limits = options.limits}).network;
              },
          .read_info =
              [](const std::string& path, const LoadLimits& limits, const inner::Graph& graph) {
                return ValueOrRaise(Info(path, limits, graph), "load");
              },
          .graph_suffixes = {".onnx"},
          .any_batch = true,
          .write_graph = Write};
}

}  // namespace firn::io

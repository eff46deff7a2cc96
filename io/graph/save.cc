// The formats are those of formats/. Only the end of the name decides a graph's format.
#include "firn/io/graph/save.h"

#include <filesystem>

#include "firn/autograd/graph/graph.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/internal/graph_file_format.h"
#include "firn/tensor/error.h"

namespace firn::io {

std::vector<std::string> Save(const std::string& path, const inner::Graph& graph,
                              const SaveOptions& options) {
  const Format* const format = GraphFormatOfName(path);
  if (format == nullptr) {
    RaiseStatus(
        InvalidArgument("'", path, "' ends in '", std::filesystem::path(path).extension().string(),
                        "' (want ", GraphSuffixesText(), ")"),
        "save");
  }
  if (options.any_batch && !format->any_batch) {
    RaiseStatus(InvalidArgument("'", path, "': a file of ", format->name,
                                " has one size of batches (any_batch is for others)"),
                "save");
  }
  RaiseIfError(CheckInfo(options.info, graph), "save");
  return format->write_graph(path, graph, options);  // whose errors say what and where
}

std::vector<std::string> Save(const std::string& path, const StaticGraph& graph,
                              const SaveOptions& options) {
  return Save(path, graph.captured(), options);
}

}  // namespace firn::io

// The tensors of a graph's file are its states, in the order of the file.
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/graph/save.h"

namespace firn::io {

FIRN_FILE_FORMAT(graph) {
  return {.name = "Firn graph",
          .holds = FileHolds::kGraph,
          .suffixes = {".firn"},
          .recognises =
              [](const FileHead& head) {
                return head.bytes.starts_with(
                    "\x89"
                    "FIRN");
              },
          .read_tensors =
              [](const std::string& path, const LoadOptions& options) {
                return ReadGraph(path, {.limits = options.limits}).states;
              },
          .graph_suffixes = {".firn"},
          .write_graph =
              [](const std::string& path, const inner::Graph& graph, const SaveOptions& options) {
                SaveGraph(path, graph, {.names = options.names, .info = options.info});
                return std::vector<std::string>();
              }};
}

}  // namespace firn::io

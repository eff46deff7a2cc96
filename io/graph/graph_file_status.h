#ifndef FIRN_IO_GRAPH_GRAPH_FILE_STATUS_H_
#define FIRN_IO_GRAPH_GRAPH_FILE_STATUS_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/graph/graph_info.h"
#include "firn/io/load_limits.h"

namespace firn::io {

class RandomAccess;

// SaveGraph with a status.
absl::Status TrySaveGraph(const std::string& path, const inner::Graph& graph,
                          const SaveGraphOptions& options = {});
absl::Status TrySaveGraph(const std::string& path, const StaticGraph& graph,
                          const SaveGraphOptions& options = {});

// LoadGraph with a status.
absl::StatusOr<StaticGraph> TryLoadGraph(const std::string& path,
                                         const LoadGraphOptions& options = {});

// LoadGraphInfo with a status.
absl::StatusOr<GraphInfo> TryLoadGraphInfo(const std::string& path,
                                           const LoadGraphOptions& options = {});

// ReadGraph with a status.
absl::StatusOr<GraphFile> TryReadGraph(const std::string& path,
                                       const LoadGraphOptions& options = {});
// The same of a file that is open already.
absl::StatusOr<GraphFile> TryReadGraph(const RandomAccess& file,
                                       const LoadGraphOptions& options = {});

// The info in a text of GraphInfoText, which must fit `graph` as for SaveGraph. DataLoss for
// another text, naming the field, what was expected and what came; ResourceExhausted beyond the
// limits (names, max_tensors words, columns or numbers); InvalidArgument for what does not fit.
absl::StatusOr<GraphInfo> TryParseGraphInfo(std::string_view text, const inner::Graph& graph,
                                            const LoadLimits& limits = {});

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_FILE_STATUS_H_

#ifndef FIRN_IO_GRAPH_GRAPH_FILE_STATUS_H_
#define FIRN_IO_GRAPH_GRAPH_FILE_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file.h"

namespace firn::io {

// SaveGraph with a status.
absl::Status WriteGraph(const std::string& path, const inner::Graph& graph,
                        const SaveGraphOptions& options = {});
absl::Status WriteGraph(const std::string& path, const StaticGraph& graph,
                        const SaveGraphOptions& options = {});

// LoadGraph with a status.
absl::StatusOr<StaticGraph> ReadStaticGraph(const std::string& path,
                                            const LoadGraphOptions& options = {});

// LoadGraphInfo with a status.
absl::StatusOr<GraphInfo> ReadGraphInfo(const std::string& path,
                                        const LoadGraphOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_FILE_STATUS_H_

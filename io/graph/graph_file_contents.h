#ifndef FIRN_IO_GRAPH_GRAPH_FILE_CONTENTS_H_
#define FIRN_IO_GRAPH_GRAPH_FILE_CONTENTS_H_

#include <string>

#include "firn/autograd/graph/graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/tensor/state_dict.h"

namespace firn::io {

// A graph, its states by name, in the order of the file, and the meaning of its numbers.
struct GraphFile {
  Graph graph;
  StateDict states;
  GraphInfo info;
};

// The graph before it is compiled, to be looked at or changed, and its states.
// Throws as LoadGraph; TryReadGraph (graph_file_status.h) does not.
GraphFile ReadGraph(const std::string& path, const LoadGraphOptions& options = {});

}  // namespace firn::io

#endif  // FIRN_IO_GRAPH_GRAPH_FILE_CONTENTS_H_

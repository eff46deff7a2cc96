#ifndef FIRN_TOOLS_FIRN_GRAPH_SOURCE_H_
#define FIRN_TOOLS_FIRN_GRAPH_SOURCE_H_

// Graphs that commands run, from any program: a file of io::SaveGraph, which has its sizes, or a
// network of another framework's file, which becomes a graph with sizes from the command line.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/io/graph/graph_file_contents.h"
#include "firn/io/load_limits.h"

namespace firn::cli {

struct GraphSource {
  std::string path;
  int64_t batch = 0;              // 0: that of the file, or 1 if it has none
  std::vector<std::string> dims;  // "height=224": other sizes that the file leaves open
  std::string network;            // which of several; "": the first
};

// The argument GRAPH, and --batch, --dim and --network.
void AddGraphSource(CLI::App& app, GraphSource& source);
// Only --batch, --dim and --network.
void AddGraphSizes(CLI::App& app, GraphSource& source);

// Whether a file is of a format of networks, and not of io::SaveGraph.
bool IsNetworkFile(const std::string& path);

// The graph with its states by their names. Throws firn::Error, InvalidArgument, naming all open
// sizes that the command line does not give; the errors of reading the file; UsageError for sizes
// that the file does not leave open.
io::GraphFile ReadGraph(const GraphSource& source, const io::LoadLimits& limits = {});
// The compiled graph; tensors that no run changes are constants, so that weights are laid out for
// their kernels once. `info`, if not null, gets the file's description of the graph's numbers.
StaticGraph LoadGraph(const GraphSource& source, io::GraphInfo* info = nullptr);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_GRAPH_SOURCE_H_

#ifndef FIRN_TOOLS_FIRN_MONITOR_GRAPH_SVG_H_
#define FIRN_TOOLS_FIRN_MONITOR_GRAPH_SVG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/monitors/event_writer.h"

namespace firn::cli {

// A graph whose nodes are few enough to be drawn.
struct SmallGraph {
  struct Node {
    std::string name;   // as it was, or the group's
    std::string label;  // short
    std::string hint;   // shown when somebody points at it
    int64_t members = 1;
    std::vector<size_t> inputs = {};  // nodes, each once
  };
  std::vector<Node> nodes = {};
  int64_t all = 0;  // nodes before they were put into groups
};

struct SmallGraphOptions {
  size_t most = 120;  // nodes
  // Names are those of operations behind the path of their module, and a module without others in
  // it is one node, however few there are: for a reader a batch norm is one thing.
  bool by_module = false;
};

// Nodes whose names begin alike (up to a slash) become one, by as few of their first words as make
// at most `most` of them. Inputs that are none of the nodes are left out; control inputs ("^name")
// and numbers of results ("name:1") are understood. Any graph will do, also one with circles.
SmallGraph MakeSmall(const std::vector<io::EventGraphNode>& nodes,
                     const SmallGraphOptions& options = {});

// Draws it from top to bottom in layers, a node below all of its inputs: Sugiyama's method without
// its dummy nodes. An SVG element with the classes `node`, `group` and `edge`.
std::string DrawGraph(const SmallGraph& graph, const std::string& name);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_GRAPH_SVG_H_

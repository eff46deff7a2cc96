#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_PASS_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_PASS_H_

// A pass is a function that changes a captured graph, before it is lowered, and says what it did:
//   absl::StatusOr<PassReport> EliminateDeadCode(Graph& graph);
// It takes a graph that Graph::Verify accepts and leaves one that computes the same, with the same
// inputs, outputs and effects on states. After an error the graph is not to be used.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/op.h"

namespace firn {

// What a pass changed.
struct PassReport {
  std::string pass;  // "dead_code"
  int64_t changes = 0;
  std::vector<std::string> what = {};  // a line a change, naming operations and their modules

  void Add(std::string change) {
    ++changes;
    what.push_back(std::move(change));
  }
};

// "conv2d at net.conv1", with "(backward)" where it applies.
std::string Describe(const Instr& instr);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_PASS_H_

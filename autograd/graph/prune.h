#ifndef FIRN_AUTOGRAD_GRAPH_PRUNE_H_
#define FIRN_AUTOGRAD_GRAPH_PRUNE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/tensor/state_dict.h"

namespace firn {

struct PruneOptions {
  double fraction = 0.5;  // the share of weights that become 0, in [0, 1]; their number is rounded
  bool together = false;  // a share of all layers' weights together; otherwise of each layer's
  // Only in these modules, such as {"net.fc1"}; empty: in all.
  std::vector<std::string> modules = {};
};

struct PrunedLayer {
  std::string module, operation;   // "net.fc1", "linear"
  int64_t weights = 0, zeros = 0;  // of them, those that were 0 before among them
  double lost = 0;                 // norm of what became 0, relative to that of the weight
};

struct Pruning {
  std::vector<PrunedLayer> layers;
  int64_t weights = 0, zeros = 0;  // of all
  // The new weights, which are states of the graph: "net.fc1.weight" and so on.
  StateDict state;
};

// Sets the weights of least magnitude to 0 (Han et al., 2015) in the convolutions and linear
// operations of a graph without a backward pass. Weights stay what they are for the module that was
// captured: the graph gets new ones, which want gradients where those do. Among equal magnitudes
// the first become 0. Throws firn::Error: InvalidArgument for options that make no sense and
// weights that are NaN; FailedPrecondition for a graph with a backward pass. The graph is then as
// it was.
Pruning Prune(Graph& graph, const PruneOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PRUNE_H_

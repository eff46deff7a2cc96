#ifndef FIRN_AUTOGRAD_GRAPH_EVALUATION_H_
#define FIRN_AUTOGRAD_GRAPH_EVALUATION_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"

namespace firn {

// The forward pass of a captured graph as in evaluation mode: batch norms use their running
// statistics, dropout does nothing, no operation runs only for the states it changes, and no
// gradients are computed or left. Errors: FailedPrecondition for a batch norm without running
// statistics, when a result of the graph is computed in the backward pass, and when the pass needs
// other ranks (collective operations), like batch norms over ranks.
absl::StatusOr<Graph> ToEvaluation(const Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_EVALUATION_H_

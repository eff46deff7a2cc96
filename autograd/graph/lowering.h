#ifndef FIRN_AUTOGRAD_GRAPH_LOWERING_H_
#define FIRN_AUTOGRAD_GRAPH_LOWERING_H_

#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Makes a graph into one that an Executor runs: kernels chosen, layouts theirs, parameters packed,
// results written over arguments, elementwise operations in chains. Reports what each step did.
// Requires: the precision and tuning of the graph are those of the calling thread. After an error
// the graph is not to be used.
absl::StatusOr<std::vector<PassReport>> RunLowering(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_LOWERING_H_

#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_CONSTANT_STATES_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_CONSTANT_STATES_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Makes constants of the states that no operation writes, from copies of what they hold now: the
// parameters and running statistics of a model that is trained. The graph no longer sees changes of
// the originals.
absl::StatusOr<PassReport> ConstantStates(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_CONSTANT_STATES_H_

#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_DEAD_CODE_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_DEAD_CODE_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Drops operations whose results no other operation needs, then values and buffers that nothing
// names; the remaining ones get new numbers. Operations that write a state stay, random ones
// included, and so do collective operations, since other ranks make the same calls. An operation
// that changes a temporary in place stays if the temporary is read afterwards. Inputs stay. Exact.
absl::StatusOr<PassReport> EliminateDeadCode(Graph& graph);

// The same, but operations that only write states go as well, with their effect on them. Collective
// operations that lead to no output go too, so all ranks must ask for the same outputs.
void KeepOnlyOutputs(Graph& graph);

// The second part alone.
void DropUnusedValues(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_DEAD_CODE_H_

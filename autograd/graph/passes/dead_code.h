#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_DEAD_CODE_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_DEAD_CODE_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Drops operations whose results nobody needs, then values and buffers that nothing names, which
// changes the numbers of those that stay. What writes a state stays, random operations among it,
// and collective operations do: other ranks make the same calls. What changes a temporary in place
// stays if that is read afterwards. Inputs stay. Exact.
absl::StatusOr<PassReport> EliminateDeadCode(Graph& graph);

// The same, and what only writes states goes as well, with its effect on them; so do collective
// operations that lead to no output, so that all ranks must ask for the same outputs.
void KeepOnlyOutputs(Graph& graph);

// The second part alone.
void DropUnusedValues(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_DEAD_CODE_H_

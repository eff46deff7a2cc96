#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_COMMON_SUBEXPRESSIONS_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_COMMON_SUBEXPRESSIONS_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Computes once what is computed twice from the same elements. Not random or collective operations,
// none that write in place, and none whose results are states or change in place. What the backward
// phase computes again, a checkpointed segment above all, stays unless the first result is kept
// until then anyway. Exact.
absl::StatusOr<PassReport> MergeCommonSubexpressions(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_COMMON_SUBEXPRESSIONS_H_

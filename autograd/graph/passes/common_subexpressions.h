#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_COMMON_SUBEXPRESSIONS_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_COMMON_SUBEXPRESSIONS_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Computes once what is computed twice from the same elements. Leaves out random and collective
// operations, operations that write in place, and those whose results are states or change in
// place. A repetition in the backward phase, as in a checkpointed segment, stays unless the first
// result is kept until then anyway. Exact.
absl::StatusOr<PassReport> MergeCommonSubexpressions(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_COMMON_SUBEXPRESSIONS_H_

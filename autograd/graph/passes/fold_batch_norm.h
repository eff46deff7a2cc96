#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_FOLD_BATCH_NORM_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_FOLD_BATCH_NORM_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Puts a batch norm with fixed statistics, a scale and a shift per channel, into the convolution,
// linear operation or other scale and shift before it, if nothing else reads that one's result:
//   scale (W x + b) + shift = (scale W) x + (scale b + shift)
// The new weight is computed in each run, so parameters may change; constant ones are folded by
// FoldConstants. Weights that are not constant and larger than the result stay: scaling them would
// cost more than it saves. Rounds elsewhere: for Arithmetic::kReordered.
absl::StatusOr<PassReport> FoldBatchNorm(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_FOLD_BATCH_NORM_H_

#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_REMOVE_BIAS_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_REMOVE_BIAS_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// A batch norm with the batch's statistics takes away what a convolution or linear operation before
// it adds to each channel. This pass drops that bias and adds momentum * bias to the running mean,
// the only place where the bias shows. Its gradient, the sum of the batch norm's dx over each
// channel, is zero in real arithmetic; what rounding makes of it is replaced by zero, so that an
// optimizer leaves the bias where it is instead of following noise, as Adam does. So these biases,
// and with them the running means, come out otherwise than in ordinary runs; results do not. Rounds
// elsewhere: for Arithmetic::kReordered.
absl::StatusOr<PassReport> RemoveBiasBeforeBatchNorm(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_REMOVE_BIAS_H_

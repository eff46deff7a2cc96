#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_FUSE_ACTIVATION_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_FUSE_ACTIVATION_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Lets a training batch norm, and on a CUDA device a convolution, apply the relu or tanh that alone
// reads its result: one pass over memory less. The fused operations round as the separate ones do
// (an engine of cuDNN that takes both may round differently): in the half types only relu behind a
// convolution is fused, since other results would no longer be rounded in between. The gradients
// stay two operations: in one, the compiler contracts the activation's into the sums, which rounds
// differently.
absl::StatusOr<PassReport> FuseActivation(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_FUSE_ACTIVATION_H_

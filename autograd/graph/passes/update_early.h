#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_UPDATE_EARLY_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_UPDATE_EARLY_H_

#include "absl/status/statusor.h"
#include "autograd/graph/passes/pass.h"

namespace firn {

// Moves the update of each large parameter from the optimizer's step to where its gradient is ready
// and its old value is no longer read, so that the gradient's memory is free early and its elements
// are still in the cache. Exact. Operations that change each of a variadic list of tensors and have
// no results (adam_step, sgd_step, clip_grad_value) are taken apart: by the convention of
// tensor/ops/README.md their repetitions do not depend on each other.
absl::StatusOr<PassReport> UpdateEarly(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_UPDATE_EARLY_H_

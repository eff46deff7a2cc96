#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_SCHEDULE_UPDATES_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_SCHEDULE_UPDATES_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Brings the gradient of each large parameter and its update together, so that the gradient's
// memory is free soon and its elements are still in the cache. Usually the update moves to where
// the gradient is ready and the old value no longer read. A gradient much larger than what it is
// computed from, a linear layer's of a small batch, is computed late instead, when activations have
// made room. Exact. Operations that change each of a variadic list of tensors and have no results
// (adam_step, sgd_step, clip_grad_value) are taken apart: by the convention of tensor/ops/README.md
// their repetitions do not depend on each other.
absl::StatusOr<PassReport> ScheduleUpdates(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_SCHEDULE_UPDATES_H_

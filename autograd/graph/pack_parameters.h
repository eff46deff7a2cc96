#ifndef FIRN_AUTOGRAD_GRAPH_PACK_PARAMETERS_H_
#define FIRN_AUTOGRAD_GRAPH_PACK_PARAMETERS_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Lays constant weights of convolutions and products out as their kernels want them, once and not
// in every run. Exact. A packed 3x3 filter takes four times its memory, a matrix 64 bytes more for
// each of its lines. Requires: `graph` comes from Lower.
absl::StatusOr<PassReport> PackParameters(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PACK_PARAMETERS_H_

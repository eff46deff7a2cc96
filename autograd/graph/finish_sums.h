#ifndef FIRN_AUTOGRAD_GRAPH_FINISH_SUMS_H_
#define FIRN_AUTOGRAD_GRAPH_FINISH_SUMS_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Makes one operation of sums of bytes with constant weights (GraphTraits::finish) and of what
// alone reads them: dequantize_linear, the addition of a bias and of another value, relu, and the
// quantize_linear of the result, which may have other readers too. Exact. For captured graphs,
// before Lower.
absl::StatusOr<PassReport> FinishSums(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_FINISH_SUMS_H_

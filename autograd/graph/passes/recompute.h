#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_RECOMPUTE_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_RECOMPUTE_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Frees results that are kept for the backward pass, and computes them again there, where that
// lowers the peak of memory: elementwise operations and batch norms whose arguments are kept anyway
// (Chen et al., 2016, of single operations). Exact: the same kernels on the same elements.
absl::StatusOr<PassReport> Recompute(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_RECOMPUTE_H_

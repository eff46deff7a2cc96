#ifndef FIRN_AUTOGRAD_GRAPH_LOWER_H_
#define FIRN_AUTOGRAD_GRAPH_LOWER_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"

namespace firn {

// The same graph with the layouts that its kernels take: temporaries are laid out as the kernels
// that make them like it, `reorder` instructions stand where a kernel takes another layout, and
// arguments that overlap what an operation writes are copied before. After it each instruction runs
// as it stands. Kernels are found and chosen by the same rules as in Apply.
absl::StatusOr<Graph> Lower(const Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_LOWER_H_

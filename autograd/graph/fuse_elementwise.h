#ifndef FIRN_AUTOGRAD_GRAPH_FUSE_ELEMENTWISE_H_
#define FIRN_AUTOGRAD_GRAPH_FUSE_ELEMENTWISE_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Lets elementwise operations that follow each other, on tensors of one shape and layout, run as
// one operation: on the CPU, where they are large, tile by tile; on CUDA as one kernel, compiled
// here (about a second for each chain of another text). What passes between them stays in cache or
// registers and needs no memory of its own. Exact. Requires: `graph` comes from Lower and
// MarkInPlace.
absl::StatusOr<PassReport> FuseElementwise(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_FUSE_ELEMENTWISE_H_

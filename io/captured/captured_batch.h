#ifndef FIRN_IO_CAPTURED_CAPTURED_BATCH_H_
#define FIRN_IO_CAPTURED_CAPTURED_BATCH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"

namespace firn::io::internal {

// The graph that would have been captured if dimension 0 of its inputs had `batch` elements: shapes
// are inferred anew, and sizes in attributes that were the batch or a multiple of it are replaced.
// Kernels, constants and states stay as they are, so the result is not for running. Unimplemented,
// naming the operation that does not fit.
absl::StatusOr<Graph> WithBatch(const Graph& graph, int64_t batch);

// The graph with one sample more, for exporting it for batches of any size. InvalidArgument where
// no input has samples.
absl::StatusOr<Graph> WithAnotherBatch(const Graph& graph);

}  // namespace firn::io::internal

#endif  // FIRN_IO_CAPTURED_CAPTURED_BATCH_H_

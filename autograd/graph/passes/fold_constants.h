#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_FOLD_CONSTANTS_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_FOLD_CONSTANTS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// A result that is larger than its arguments is computed ahead only up to this size.
inline constexpr int64_t kMaxGrownConstantBytes = 64 << 10;

// Computes operations on constants now, with the kernels that would have computed them in each run.
// Leaves out random and collective operations, those that write in place or whose results are
// written in place, and those whose results are larger than both their arguments and
// kMaxGrownConstantBytes, so that an expanded number stays a number. An operation that fails is
// left to fail when it runs. Exact.
absl::StatusOr<PassReport> FoldConstants(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_FOLD_CONSTANTS_H_

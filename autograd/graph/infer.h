#ifndef FIRN_AUTOGRAD_GRAPH_INFER_H_
#define FIRN_AUTOGRAD_GRAPH_INFER_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"

namespace firn {

// The results of a call by the operation's declaration and shape rule.
struct Inferred {
  absl::InlinedVector<TensorSpec, 2> specs;
  int64_t view_offset = 0;  // in elements
};

// `instr` on inputs with the specs of the graph's values. Errors: those of a call that Apply
// refuses before a kernel is chosen.
absl::StatusOr<Inferred> InferSpecs(const Graph& graph, const Instr& instr);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_INFER_H_

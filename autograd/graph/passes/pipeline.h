#ifndef FIRN_AUTOGRAD_GRAPH_PASSES_PIPELINE_H_
#define FIRN_AUTOGRAD_GRAPH_PASSES_PIPELINE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "firn/autograd/graph/arithmetic.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

struct PassOptions {
  Arithmetic arithmetic = Arithmetic::kExact;
  bool constant_states = false;  // see ConstantStates
  bool recompute = true;         // see Recompute
};

// Runs the passes that the options allow, in their order. The reports are in it, too; some passes
// run twice. Requires: graph.Verify(). After an error the graph is not to be used.
absl::StatusOr<std::vector<PassReport>> RunPasses(Graph& graph, const PassOptions& options = {});

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_PASSES_PIPELINE_H_

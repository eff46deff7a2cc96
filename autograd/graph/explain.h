#ifndef FIRN_AUTOGRAD_GRAPH_EXPLAIN_H_
#define FIRN_AUTOGRAD_GRAPH_EXPLAIN_H_

#include <string>

#include "absl/types/span.h"
#include "firn/autograd/graph/executor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/pass.h"
#include "firn/autograd/graph/plan.h"
#include "firn/autograd/graph/streams.h"

namespace firn {

// The reorders that lowering put in: those of `lowered` that `graph` does not have.
PassReport ReportReorders(const Graph& graph, const Graph& lowered);

// The operations that run on a second stream, as the executor says (null: none).
PassReport ReportSideStream(const Graph& lowered, const StreamPlan* streams);

// The facts about a compiled graph that the text tells.
struct Explanation {
  const Graph& captured;
  absl::Span<const PassReport> reports;  // in the order in which the passes ran
  const Graph& lowered;
  const MemoryPlan& memory;
  absl::Span<const MemoryUse> peak;
  std::string not_recorded;  // Executor::WhyNotRecorded
};

// A text for people: operations before and after, what each pass changed, memory, whether
// runs become a CUDA graph, warnings, and
// the inputs, states and constants with the operation that first takes each.
std::string Explain(const Explanation& what);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_EXPLAIN_H_

#ifndef FIRN_AUTOGRAD_GRAPH_IN_PLACE_H_
#define FIRN_AUTOGRAD_GRAPH_IN_PLACE_H_

#include "absl/status/statusor.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/passes/pass.h"

namespace firn {

// Lets results be written over arguments that nothing reads afterwards, where the operation allows
// it (OpDef::may_reuse) and both are temporaries of the same size and layout. Requires: `graph`
// comes from Lower. Reports how many results moved; there are no errors.
absl::StatusOr<PassReport> MarkInPlace(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_IN_PLACE_H_

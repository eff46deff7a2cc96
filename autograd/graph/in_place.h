#ifndef FIRN_AUTOGRAD_GRAPH_IN_PLACE_H_
#define FIRN_AUTOGRAD_GRAPH_IN_PLACE_H_

#include <cstdint>

#include "autograd/graph/graph.h"

namespace firn {

// Lets results be written over arguments that nothing reads afterwards, where the operation allows
// it (OpDef::may_reuse) and both are temporaries of the same size and layout. Requires: `graph`
// comes from Lower. Returns how many results moved.
int64_t MarkInPlace(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_IN_PLACE_H_

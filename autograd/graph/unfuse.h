#ifndef FIRN_AUTOGRAD_GRAPH_UNFUSE_H_
#define FIRN_AUTOGRAD_GRAPH_UNFUSE_H_

#include <cstdint>

#include "firn/autograd/graph/graph.h"

namespace firn {

// Takes batch norms apart that apply an activation in their own pass (BatchNorm's `activation`):
//   y = batch_norm_act_train(x, ...)          z = batch_norm_train(x, ...), y = relu(z) or tanh(z)
//   dx, ... = batch_norm_grad(dy, x, y, ...)  dz = dy where y > 0, or dy (1 - y^2), and
//                                             dx, ... = batch_norm_grad(dz, x, ...)
// for edits that look for one or the other (ReplaceOperation, RecordRanges); compiling a graph
// fuses them again. Numbers stay what they are, but for tanh's of half types, where z and dz are
// rounded. Returns how many operations were taken apart. Throws firn::Error where the graph does
// not hold together; it is then as it was.
int64_t UnfuseBatchNorm(Graph& graph);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_UNFUSE_H_

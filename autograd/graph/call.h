#ifndef FIRN_AUTOGRAD_GRAPH_CALL_H_
#define FIRN_AUTOGRAD_GRAPH_CALL_H_

#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/tensor.h"

namespace firn {

// Runs the operations of a graph without a backward pass one by one, as the code did that was
// captured: they are recorded for backward, and by a capture. So a graph that was edited, by
// Decompose for one, is trained further:
//
//   StaticGraph step = Freeze([&](const Tensor& x, const Tensor& labels) {
//     sgd.ZeroGrad();
//     Tensor loss = CrossEntropy(CallGraph(graph, {&x, 1})[0], labels);
//     loss.Backward();
//     sgd.Step();
//     return loss;
//   }, images, labels);
//
// `inputs` are the graph's inputs, with their shapes, dtypes and devices. States are read and
// written where they are; those that want gradients get them. Detaching is no operation, so a graph
// does not know where the code detached a tensor, and gradients pass there. Throws firn::Error:
// InvalidArgument for inputs that do not fit, FailedPrecondition for a graph with a backward pass
// and for modules that are no longer as they were captured (Graph::CheckSwitches); what operations
// throw.
TensorList CallGraph(const Graph& graph, absl::Span<const Tensor> inputs);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_CALL_H_

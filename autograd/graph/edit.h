#ifndef FIRN_AUTOGRAD_GRAPH_EDIT_H_
#define FIRN_AUTOGRAD_GRAPH_EDIT_H_

// Changing captured graphs by hand, between Capture and StaticGraph::Compile. Operations are named
// by their position in `instrs`, values by their number; Visit (visit.h) tells both, and both may
// change with every call here. After an error the graph is as it was.

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"

namespace firn {

// Replaces operation `at` by what `fn` does with its arguments, which are captured for that: any
// code that gives as many results as the graph reads of the operation, of their shapes and dtypes.
//   remove it:        [](absl::Span<const Tensor> in) { return TensorList{in[0]}; }
//   put one after it: [](absl::Span<const Tensor> in) { return TensorList{Tanh(Relu(in[0]))}; }
// `fn` sees arguments without meaningful elements, undefined ones among them, and cannot change
// them in place. What it throws passes through. Errors: OutOfRange for a position that is not
// there, InvalidArgument for results that do not fit, naming both.
absl::Status ReplaceOperation(Graph& graph, size_t at, CaptureFn fn);

// Makes output `output` of `source` what input `input` of `graph` was. The inputs of `source` come
// behind the other inputs; tensors that both graphs know as states are one state. Errors:
// OutOfRange, and InvalidArgument where shape, dtype or device differ.
absl::Status RewireInput(Graph& graph, size_t input, const Graph& source, size_t output);

// Adds a value, such as an intermediate one, to the results. Errors: OutOfRange, and
// InvalidArgument for a temporary that a later operation changes in place.
absl::Status AddOutput(Graph& graph, ValueId value);

// The part of a graph that computes `outputs` from `inputs`, which may be values inside it, and
// from states. Operations that only change states, an optimizer's for one, are dropped, and no
// gradients are left. Errors: InvalidArgument when an output needs an input of the graph that is
// not among `inputs`.
absl::StatusOr<Graph> ExtractGraph(const Graph& graph, absl::Span<const ValueId> inputs,
                                   absl::Span<const ValueId> outputs);

}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_EDIT_H_

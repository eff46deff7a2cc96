#ifndef FIRN_AUTOGRAD_GRAPH_CAPTURE_H_
#define FIRN_AUTOGRAD_GRAPH_CAPTURE_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

// The code to capture: any code that computes with tensors, even a whole training step.
using CaptureFn = absl::FunctionRef<TensorList(absl::Span<const Tensor> inputs)>;

// Runs `fn` once on `inputs`, for real, and records the operations it runs. `fn` gets them
// row-major and without history, as every run of the graph does. Tensors that it uses beside them
// are states: read and written where they are, in each run.
//
// Control flow is not recorded: the graph does what this run did. While capturing, elements cannot
// be read on the host nor tensors made from host memory: such a call throws firn::Error
// (kFailedPrecondition) that names it, and so does a capture inside a capture. Exceptions of `fn`
// pass through; elements that operations had changed in place are then as before.
Captured Capture(CaptureFn fn, absl::Span<const Tensor> inputs);

}  // namespace firn::inner

namespace firn {
using inner::Capture;
using inner::CaptureFn;
}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_CAPTURE_H_

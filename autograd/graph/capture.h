#ifndef FIRN_AUTOGRAD_GRAPH_CAPTURE_H_
#define FIRN_AUTOGRAD_GRAPH_CAPTURE_H_

#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

// What is captured: any code that computes with tensors, a whole training step too.
using CaptureFn = absl::FunctionRef<TensorList(absl::Span<const Tensor> inputs)>;

// Runs `fn` once on `inputs`, for real, and records the operations it runs. `fn` gets them
// row-major and without history, as every run of the graph does. Tensors that it uses beside them
// are states: read and written where they are, in each run.
//
// Control flow is not recorded: the graph does what this run did. While capturing, elements cannot
// be read on the host nor tensors made from host memory: firn::Error with kFailedPrecondition names
// the call; so does a capture inside a capture. Whatever `fn` throws passes through; then elements
// that operations had changed in place are as before.
Captured Capture(CaptureFn fn, absl::Span<const Tensor> inputs);

}  // namespace firn::inner

namespace firn {
using inner::Capture;
using inner::CaptureFn;
}  // namespace firn

#endif  // FIRN_AUTOGRAD_GRAPH_CAPTURE_H_

#ifndef FIRN_TENSOR_COMPOSITE_GRADIENT_H_
#define FIRN_TENSOR_COMPOSITE_GRADIENT_H_

// Gradients of any order for operations whose own gradient is a kernel that has none:
//
//   void GradFoo(GradContext& g) {
//     if (GradEnabled()) {  // the gradient is recorded: somebody may differentiate it
//       return CompositeGradient(g, [&](const std::vector<Tensor>& in) { return ...; });
//     }
//     ... the kernel
//   }

#include <vector>

#include "absl/functional/function_ref.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"

namespace firn::inner {

// An operation's only result, by other operations; of all its inputs, absent ones undefined.
using CompositeFn = absl::FunctionRef<Tensor(const std::vector<Tensor>& inputs)>;

// Sets the gradients that g needs to those of `composite`, which is run and differentiated here;
// zeros where it does not depend on an input. What it costs is what the operations cost that it is
// made of: for gradients that are recorded alone. Requires: `saves` has every input.
void CompositeGradient(GradContext& g, CompositeFn composite);

namespace internal {
// The gradients of y in `inputs`, recorded, for dy; undefined where there is none. autograd sets it
// once, before main().
using RecordedGradients = std::vector<Tensor> (*)(const Tensor& y, const Tensor& dy,
                                                  const std::vector<Tensor>& inputs);
inline constinit RecordedGradients recorded_gradients = nullptr;
}  // namespace internal

}  // namespace firn::inner

#endif  // FIRN_TENSOR_COMPOSITE_GRADIENT_H_

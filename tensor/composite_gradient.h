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

// Computes an operation's only result by other operations, from all its inputs; absent ones are
// undefined.
using CompositeFn = absl::FunctionRef<Tensor(const std::vector<Tensor>& inputs)>;

// Sets the gradients that g needs to those of `composite`, which is run and differentiated here;
// zeros where it does not depend on an input. It costs as much as the operations that `composite`
// calls, so it is only for gradients that are recorded. Requires: `saves` has every input.
void CompositeGradient(GradContext& g, CompositeFn composite);

namespace internal {
// The gradients of y in `inputs`, recorded, for dy; undefined for inputs without one. autograd sets
// it once, before main().
using RecordedGradients = std::vector<Tensor> (*)(const Tensor& y, const Tensor& dy,
                                                  const std::vector<Tensor>& inputs);
inline constinit RecordedGradients recorded_gradients = nullptr;
}  // namespace internal

}  // namespace firn::inner

#endif  // FIRN_TENSOR_COMPOSITE_GRADIENT_H_

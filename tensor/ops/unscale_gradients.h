#ifndef FIRN_TENSOR_OPS_UNSCALE_GRADIENTS_H_
#define FIRN_TENSOR_OPS_UNSCALE_GRADIENTS_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn::inner {

// Divides all of `grads` by `scale` (0-d, floating) in place, each element multiplied by 1 / scale.
// Returns whether an element was infinite or NaN before: bool, 0-d
// (torch._amp_foreach_non_finite_check_and_unscale_). Users call optim::LossScaler. Throws unless
// there is a gradient and all are floating and contiguous.
Tensor UnscaleGradients(const std::vector<Tensor>& grads, const Tensor& scale);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_UNSCALE_GRADIENTS_H_

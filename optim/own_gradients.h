#ifndef FIRN_OPTIM_OWN_GRADIENTS_H_
#define FIRN_OPTIM_OWN_GRADIENTS_H_

#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::optim {

// The gradients of the parameters that have one, each parameter once, ready to be written: what
// somebody else sees, or what is not contiguous, becomes a copy of the parameter's own first.
// Requires NoGradScope.
std::vector<Tensor> OwnGrads(const std::vector<Tensor>& parameters);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_OWN_GRADIENTS_H_

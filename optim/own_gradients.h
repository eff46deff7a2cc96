#ifndef FIRN_OPTIM_OWN_GRADIENTS_H_
#define FIRN_OPTIM_OWN_GRADIENTS_H_

#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::optim {

// The gradients of the parameters that have one, each parameter once, ready to be written: a
// gradient that somebody else holds, or that is not contiguous, is first replaced by the
// parameter's own copy. Requires NoGradScope.
std::vector<Tensor> OwnGrads(const std::vector<Tensor>& parameters);

}  // namespace firn::optim

#endif  // FIRN_OPTIM_OWN_GRADIENTS_H_

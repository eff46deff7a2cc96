#ifndef FIRN_TENSOR_OPS_ASSIGN_H_
#define FIRN_TENSOR_OPS_ASSIGN_H_

#include "tensor/tensor.h"

namespace firn {

// Overwrites target's elements, in place, with those of `source`, broadcast and converted to its
// dtype. `source` may overlap `target`. Throws when source does not broadcast to target's shape,
// and while the gradient of either is being recorded (use NoGradScope).
void Assign(const Tensor& target, const Tensor& source);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ASSIGN_H_

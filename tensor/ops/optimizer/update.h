#ifndef FIRN_TENSOR_OPS_OPTIMIZER_UPDATE_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_UPDATE_H_

#include "firn/tensor/tensor.h"

// Programs write elements by methods of the handle that they change: CopyFrom, Fill, x[...] = y.
// The methods call these functions, which borrow all arguments, like every operation.
namespace firn::inner {

// Overwrites target's elements, in place, with those of `source`, broadcast and converted to its
// dtype. `source` may overlap `target`. Throws when source does not broadcast to target's shape,
// and while the gradient of either is being recorded (use NoGradScope).
void Assign(const Tensor& target, const Tensor& source);

// target += source in place; one dtype and shape. Throws while target's gradient is being recorded.
void Accumulate(const Tensor& target, const Tensor& source);
}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_UPDATE_H_

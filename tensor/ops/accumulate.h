#ifndef FIRN_TENSOR_OPS_ACCUMULATE_H_
#define FIRN_TENSOR_OPS_ACCUMULATE_H_

#include "tensor/tensor.h"

namespace firn::inner {

// target += source in place; one dtype and shape. Throws while target's gradient is being recorded.
void Accumulate(const Tensor& target, const Tensor& source);

}  // namespace firn::inner

#endif  // FIRN_TENSOR_OPS_ACCUMULATE_H_

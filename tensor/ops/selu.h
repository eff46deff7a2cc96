#ifndef FIRN_TENSOR_OPS_SELU_H_
#define FIRN_TENSOR_OPS_SELU_H_

#include "tensor/tensor.h"

namespace firn {

// 1.0507 * (x where x > 0, else 1.6733 * (e^x - 1)), the self-normalising constants of Klambauer et
// al., 2017. Integers and bools become f32.
Tensor Selu(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SELU_H_

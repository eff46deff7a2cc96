#ifndef FIRN_TENSOR_OPS_ADAPTIVE_AVG_POOL2D_H_
#define FIRN_TENSOR_OPS_ADAPTIVE_AVG_POOL2D_H_

#include "tensor/size2.h"
#include "tensor/tensor.h"

namespace firn {

// Averages over windows chosen to give `output_size`: window i of n covers
// [floor(i in / n), ceil((i + 1) in / n)). Size 1 is global average pooling.
// x: [n, c, h, w]      y: [n, c, output_size]
Tensor AdaptiveAvgPool2d(const Tensor& x, Size2 output_size);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ADAPTIVE_AVG_POOL2D_H_

#ifndef FIRN_TENSOR_OPS_QUANTIZE_WEIGHTS_H_
#define FIRN_TENSOR_OPS_QUANTIZE_WEIGHTS_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Weights for quantized products: symmetric, with a scale for each index of dimension 0, by which
// the largest |w| there becomes 127.
namespace inner {
// The scales, f32 [w.size(0)]: 1 where all are 0, NaN or infinite where one is. w: floating, not
// empty.
Tensor WeightScales(const Tensor& w);
// The integers, i8 from -127 to 127.
Tensor QuantizeWeights(const Tensor& w, const Tensor& scales);
}  // namespace inner

// w quantized and converted back, for training: FakeQuantize by these scales; the gradient goes
// unchanged to w. w: floating, [out, ...], of one element or more.
Tensor FakeQuantizeWeights(const Tensor& w);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_WEIGHTS_H_

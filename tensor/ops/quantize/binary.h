#ifndef FIRN_TENSOR_OPS_QUANTIZE_BINARY_H_
#define FIRN_TENSOR_OPS_QUANTIZE_BINARY_H_

#include <cstdint>
#include <optional>

#include "firn/tensor/tensor.h"

namespace firn {

// 1 where x > 0, else 0, also for NaN (NNabla's binary_sigmoid). The gradient is that of a
// straight line: dy / 2 where |x| < 1, else 0. Integers and bools become f32.
Tensor BinarySigmoid(const Tensor& x);

// 1 where x > 0, else -1, also for NaN (Courbariaux et al., 2016; NNabla's binary_tanh). The
// gradient is straight-through: dy where |x| < 1, else 0. Integers and bools become f32.
Tensor BinaryTanh(const Tensor& x);

struct BinarizeOptions {
  double zero_to = 1;  // the value for 0
  // The dimension whose indices have a scale each, the mean of |w| there; without it there is no
  // scale.
  std::optional<int64_t> scale_dim = {};
};

// The signs of w, as weights of binary networks: 1, -1, and zero_to at 0; NaN stays. With scale_dim
// each is multiplied by mean(|w|) over the other dimensions, as in XNOR-Net (Rastegari et al.,
// 2016; NNabla's binary_weight_affine); without it is BinaryConnect's (Courbariaux et al., 2015).
// The gradient goes unchanged to w, and none to the scale. w: floating. Throws on a scale_dim that
// w lacks.
Tensor Binarize(const Tensor& w, const BinarizeOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_QUANTIZE_BINARY_H_

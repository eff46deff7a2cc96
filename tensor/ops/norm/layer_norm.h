#ifndef FIRN_TENSOR_OPS_NORM_LAYER_NORM_H_
#define FIRN_TENSOR_OPS_NORM_LAYER_NORM_H_

#include <optional>

#include "firn/tensor/tensor.h"

namespace firn {

// Layer normalisation (Ba et al., 2016; PyTorch's layer_norm) over the trailing dimensions
// `normalized_shape`:
//   y = (x - mean) / sqrt(var + eps) * weight + bias        (biased variance)
// x: [..., normalized_shape]      weight, bias: normalized_shape, or undefined for 1 and 0
// Here and in the other normalisations the result is right for x of any size whose distance from
// its mean the dtype holds; elements beyond half the largest number may give infinities or NaN.
Tensor LayerNorm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                 const Tensor& bias = {}, inner::Real eps = 1e-5);

// Root mean square normalisation (Zhang & Sennrich, 2019; PyTorch's rms_norm) over the trailing
// dimensions `normalized_shape`:
//   y = x / sqrt(mean(x^2) + eps) * weight
// x: [..., normalized_shape]      weight: normalized_shape, or undefined for 1
// Without `eps` it is the machine epsilon of x's dtype: 2^-23 for f32.
Tensor RmsNorm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
               std::optional<double> eps = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_LAYER_NORM_H_

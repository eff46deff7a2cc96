#ifndef FIRN_TENSOR_OPS_NORM_GROUP_NORM_H_
#define FIRN_TENSOR_OPS_NORM_GROUP_NORM_H_

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct GroupNormAttrs {
  int64_t num_groups = 1;
  double eps = 1e-5;
  template <class V>
  void Visit(V& v) {
    v.Field("num_groups", num_groups);
    v.Field("eps", eps);
  }
};
}  // namespace inner

// Group normalisation (Wu & He, 2018; PyTorch's group_norm): statistics per sample over each of
// `num_groups` equal groups of channels, then a scale and shift per channel.
// x: [n, c, ...]      weight, bias: [c], or undefined for 1 and 0
Tensor GroupNorm(const Tensor& x, inner::Integer num_groups, const Tensor& weight = {},
                 const Tensor& bias = {}, inner::Real eps = 1e-5);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_GROUP_NORM_H_

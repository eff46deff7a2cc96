#ifndef FIRN_TENSOR_OPS_HARDTANH_H_
#define FIRN_TENSOR_OPS_HARDTANH_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct HardtanhAttrs {
  double min = -1;
  double max = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("min", min);
    v.Field("max", max);
  }
};
}  // namespace inner

// x cut off at `min` and `max`; NaN stays. The gradient at the ends is 0 (Clamp's is 1). Integers
// and bools become f32. Throws when min > max.
Tensor Hardtanh(const Tensor& x, double min = -1, double max = 1);

namespace inner {
// Its gradient: dy where min < x < max, else 0.
Tensor HardtanhGrad(const Tensor& dy, const Tensor& x, const HardtanhAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_HARDTANH_H_

#ifndef FIRN_TENSOR_OPS_ACTIVATION_SHRINK_H_
#define FIRN_TENSOR_OPS_ACTIVATION_SHRINK_H_

// Functions that are 0, or next to it, around 0.

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct ShrinkAttrs {
  double lambda = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("lambda", lambda);
  }
};
}  // namespace inner

// x where |x| > lambda, else 0; NaN stays. Integers and bools become f32.
Tensor Hardshrink(const Tensor& x, inner::Real lambda = 0.5);

// x moved towards 0 by lambda, and 0 where |x| <= lambda; NaN stays. Integers and bools become f32.
// Throws when lambda is negative.
Tensor Softshrink(const Tensor& x, inner::Real lambda = 0.5);

// x - Tanh(x). Integers and bools become f32.
Tensor Tanhshrink(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ACTIVATION_SHRINK_H_

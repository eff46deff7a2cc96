#ifndef FIRN_TENSOR_OPS_LEAKY_RELU_H_
#define FIRN_TENSOR_OPS_LEAKY_RELU_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct LeakyReluAttrs {
  double alpha = 0.01;  // PyTorch's negative_slope
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
  }
};
}  // namespace inner

// x where x > 0, else alpha * x. The gradient at 0 is alpha's. Integers and bools become f32.
Tensor LeakyRelu(const Tensor& x, double alpha = 0.01);

namespace inner {
// Its gradient: dy where x > 0, else alpha * dy.
Tensor LeakyReluGrad(const Tensor& dy, const Tensor& x, const LeakyReluAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LEAKY_RELU_H_

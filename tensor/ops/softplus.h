#ifndef FIRN_TENSOR_OPS_SOFTPLUS_H_
#define FIRN_TENSOR_OPS_SOFTPLUS_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct SoftplusAttrs {
  double beta = 1;
  double threshold = 20;
  template <class V>
  void Visit(V& v) {
    v.Field("beta", beta);
    v.Field("threshold", threshold);
  }
};
}  // namespace inner

// log(1 + e^(beta x)) / beta, and x itself where beta * x > threshold. Finite for finite x whatever
// the threshold. Integers and bools become f32.
Tensor Softplus(const Tensor& x, double beta = 1, double threshold = 20);

namespace inner {
// Its gradient: dy * sigmoid(beta x), and dy beyond the threshold.
Tensor SoftplusGrad(const Tensor& dy, const Tensor& x, const SoftplusAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SOFTPLUS_H_

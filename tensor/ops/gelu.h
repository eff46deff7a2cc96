#ifndef FIRN_TENSOR_OPS_GELU_H_
#define FIRN_TENSOR_OPS_GELU_H_

#include "tensor/tensor.h"

namespace firn {

enum class GeluApproximate : int8_t {
  kNone,  // with the normal distribution function
  kTanh,  // with a tanh of a cubic, at most 1e-3 away
};

namespace inner {
struct GeluAttrs {
  GeluApproximate approximate = GeluApproximate::kNone;
  template <class V>
  void Visit(V& v) {
    v.Field("approximate", approximate);
  }
};
}  // namespace inner

// x * P(X <= x) for standard normal X (Hendrycks and Gimpel, 2016). Integers and bools become f32.
Tensor Gelu(const Tensor& x, GeluApproximate approximate = GeluApproximate::kNone);

namespace inner {
// Its gradient.
Tensor GeluGrad(const Tensor& dy, const Tensor& x, const GeluAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_GELU_H_

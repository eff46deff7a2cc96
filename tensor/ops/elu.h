#ifndef FIRN_TENSOR_OPS_ELU_H_
#define FIRN_TENSOR_OPS_ELU_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct EluAttrs {
  double alpha = 1;
  double scale = 1;        // of the whole
  double input_scale = 1;  // of x inside the exponential
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("scale", scale);
    v.Field("input_scale", input_scale);
  }
};
}  // namespace inner

// x where x > 0, else alpha * (e^x - 1). Integers and bools become f32.
Tensor Elu(const Tensor& x, double alpha = 1);

namespace inner {
// scale * (x where x > 0, else alpha * (e^(x * input_scale) - 1)): what elu, selu and celu are.
Tensor ScaledElu(const Tensor& x, const EluAttrs& attrs);
// The gradient of ScaledElu.
Tensor EluGrad(const Tensor& dy, const Tensor& x, const EluAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELU_H_

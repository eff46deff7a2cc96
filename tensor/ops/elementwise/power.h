#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_POWER_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_POWER_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct PowNumberAttrs {
  double exponent = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("exponent", exponent);
  }
};
}  // namespace inner

// x to the power y, broadcast; either may be a number, dtypes promote as PyTorch's. Integer powers
// wrap around; negative integer exponents give 0 for bases other than 1 and -1, and throw when the
// exponent is a number. The gradient to x is 0 where y is 0, the one to y is 0 where x is 0 and y
// >= 0.
Tensor Pow(const Tensor& x, const Tensor& y);

namespace inner {
// Floating x to the power of one number.
Tensor PowNumber(const Tensor& x, double exponent);
}  // namespace inner

// x * x. Integers wrap around.
Tensor Square(const Tensor& x);

// The square root; NaN below 0. The gradient at 0 is infinite. Integers and bools become f32.
Tensor Sqrt(const Tensor& x);

// 1 / sqrt(x): inf at 0, NaN below. Integers and bools become f32.
Tensor Rsqrt(const Tensor& x);

// 1 / x. Integers and bools become f32.
Tensor Reciprocal(const Tensor& x);

// sqrt(x^2 + y^2), broadcast, without intermediate results that exceed the dtype. The gradient
// where both are 0 is 0. Dtypes promote as PyTorch's; integers and bools become f32.
Tensor Hypot(const Tensor& x, const Tensor& y);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_POWER_H_

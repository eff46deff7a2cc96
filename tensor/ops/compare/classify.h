#ifndef FIRN_TENSOR_OPS_COMPARE_CLASSIFY_H_
#define FIRN_TENSOR_OPS_COMPARE_CLASSIFY_H_

// What kind of number an element is. Any dtype; the result is bool.

#include "firn/tensor/tensor.h"

namespace firn {

// True where x is NaN.
Tensor Isnan(const Tensor& x);

namespace inner {
struct IsinfAttrs {
  bool positive = true;
  bool negative = true;
  template <class V>
  void Visit(V& v) {
    v.Field("positive", positive);
    v.Field("negative", negative);
  }
};
}  // namespace inner
using IsinfOptions = inner::IsinfAttrs;  // which of the two infinities are looked for

// True where x is infinite.
Tensor Isinf(const Tensor& x, const IsinfOptions& options = {});

// True where x is neither infinite nor NaN.
Tensor Isfinite(const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_COMPARE_CLASSIFY_H_

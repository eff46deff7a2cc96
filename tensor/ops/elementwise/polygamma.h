#ifndef FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_H_
#define FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_H_

#include <cstdint>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct PolygammaAttrs {
  int64_t n = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("n", n);
  }
};
}  // namespace inner

// The n-th derivative of Digamma, which itself is that for n = 0. At 0, -1, -2, ... it is infinite
// for an odd n; for an even one of opposite sign on both sides, and NaN but at 0, whose sign
// chooses. Its gradient is the next one. Integers and bools become f32. Throws unless n is 0 to
// 1000.
Tensor Polygamma(inner::Integer n, const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_H_

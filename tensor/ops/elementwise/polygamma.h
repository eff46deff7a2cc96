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

// The n-th derivative of Digamma; n = 0 gives Digamma itself. At 0, -1, -2, ... it is infinite for
// an odd n. For an even n it has opposite signs on both sides and is NaN there, except at 0, whose
// sign decides. Its gradient is the next derivative. Integers and bools become f32. Throws unless n
// is 0 to 1000.
Tensor Polygamma(inner::Integer n, const Tensor& x);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_ELEMENTWISE_POLYGAMMA_H_

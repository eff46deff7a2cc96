#ifndef FIRN_TENSOR_OPS_SCAN_CUMULATIVE_H_
#define FIRN_TENSOR_OPS_SCAN_CUMULATIVE_H_

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct CumsumAttrs {
  int64_t dim = 0;
  bool exclusive = false;
  bool reverse = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("exclusive", exclusive);
    v.Field("reverse", reverse);
  }
};
}  // namespace inner

struct CumsumOptions {
  bool exclusive = false;
  bool reverse = false;
};

// Running sums along `dim`: y_i = x_0 + ... + x_i. `exclusive` leaves x_i itself out; `reverse`
// sums from the end. Floats and half types accumulate in the next wider type; bool and integers
// give i64.
Tensor Cumsum(const Tensor& x, int64_t dim, const CumsumOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_CUMULATIVE_H_

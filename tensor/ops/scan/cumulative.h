#ifndef FIRN_TENSOR_OPS_SCAN_CUMULATIVE_H_
#define FIRN_TENSOR_OPS_SCAN_CUMULATIVE_H_

#include "firn/tensor/tensor.h"

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
Tensor Cumsum(const Tensor& x, inner::Integer dim, const CumsumOptions& options = {});

using CumprodOptions = CumsumOptions;

// Running products along `dim`: y_i = x_0 * ... * x_i, with the options of Cumsum. Its gradient
// divides by nothing, so zeros among the elements do no harm. Floats and half types accumulate in
// the next wider type, so that of f32 {1e30, 1e30, 1e-30, 1e-30} the second product alone is
// infinite, as in PyTorch; bool and integers give i64.
Tensor Cumprod(const Tensor& x, inner::Integer dim, const CumprodOptions& options = {});

namespace inner {
struct LinearScanAttrs {
  int64_t dim = 0;
  bool reverse = false;   // from the end
  bool previous = false;  // s_i takes the factor of the element before it
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("reverse", reverse);
    v.Field("previous", previous);
  }
};

// The solution of s_i = b_i + a_i s_(i - 1), or b_i + a_(i - 1) s_(i - 1), along a dimension;
// gradients of Cumprod, Prod and Logcumsumexp use it.
Tensor LinearScan(const Tensor& a, const Tensor& b, const LinearScanAttrs& attrs);

// Every element's neighbour along `dim`, the one after it or the one before it; 0 at the end.
Tensor Neighbours(const Tensor& x, int64_t dim, bool after);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_CUMULATIVE_H_

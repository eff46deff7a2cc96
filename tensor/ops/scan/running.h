#ifndef FIRN_TENSOR_OPS_SCAN_RUNNING_H_
#define FIRN_TENSOR_OPS_SCAN_RUNNING_H_

// Running extremes and logarithms of sums, and differences, along a dimension. Running sums and
// products stand in cumulative.h.

#include "firn/tensor/ops/reduce/values_and_indices.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct RunningExtremeAttrs {
  int64_t dim = 0;
  bool largest = true;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("largest", largest);
  }
};
struct LogcumsumexpAttrs {
  int64_t dim = 0;
  bool reverse = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("reverse", reverse);
  }
};
}  // namespace inner

// The largest of x_0, ..., x_i at each i along `dim`, and its index: the last one if there are
// several. From a NaN on it is NaN. Any dtype; the gradient goes to the elements that were taken.
// Throws when dim is out of range.
ValuesAndIndices Cummax(const Tensor& x, inner::Integer dim);
// The smallest, likewise.
ValuesAndIndices Cummin(const Tensor& x, inner::Integer dim);

// log(e^x_0 + ... + e^x_i) at each i along `dim`, in range for any finite x. Integers and bools
// become f32. Throws when dim is out of range.
Tensor Logcumsumexp(const Tensor& x, inner::Integer dim);

struct DiffOptions {
  int64_t n = 1;  // how many times
  int64_t dim = -1;
  Tensor prepend = {}, append = {};  // joined to x along dim first
};

// x_{i + 1} - x_i along a dimension, which becomes shorter by one, n times over (numpy.diff). With
// bools, whether they differ. Throws on a negative n, 0-d x and a dim out of range.
Tensor Diff(const Tensor& x, const DiffOptions& options = {});

namespace inner {
// The running extremes, and their places.
ValuesAndIndices RunningExtreme(const Tensor& x, const RunningExtremeAttrs& attrs);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_RUNNING_H_

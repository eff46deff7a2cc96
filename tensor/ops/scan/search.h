#ifndef FIRN_TENSOR_OPS_SCAN_SEARCH_H_
#define FIRN_TENSOR_OPS_SCAN_SEARCH_H_

// The places of values in sorted tensors. NaN counts as larger than any number, as for Sort.

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct SearchsortedAttrs {
  bool right = false;
  template <class V>
  void Visit(V& v) {
    v.Field("right", right);
  }
};
}  // namespace inner

// For each value the index at which it may be inserted so that `sorted` stays in order: the number
// of elements below it, with `right` of those not above it (torch.searchsorted; torch.bucketize has
// the arguments swapped). `sorted` is ascending along its last dimension, and has either that one
// alone or the values' leading dimensions. Dtypes promote; i64 of the values' shape. Not
// differentiable. Throws on other shapes; if `sorted` is not sorted, indices from 0 to n are
// arbitrary.
Tensor Searchsorted(const Tensor& sorted, const Tensor& values, inner::Flag right = false);

// True where an element of x equals one of `test` (torch.isin); NaN equals nothing. Dtypes promote;
// bool of x's shape. Not differentiable.
Tensor Isin(const Tensor& x, const Tensor& test);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_SEARCH_H_

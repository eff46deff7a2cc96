#ifndef FIRN_TENSOR_OPS_REDUCE_MEDIAN_H_
#define FIRN_TENSOR_OPS_REDUCE_MEDIAN_H_

#include "firn/tensor/ops/reduce/values_and_indices.h"
#include "firn/tensor/tensor.h"

namespace firn {

// The median along `dim` and its index: of an even number of elements the lower of the two in the
// middle (torch.median; NumPy's is their mean). NaN where there is one. The gradient goes to the
// element at the index; which one of equal elements that is, is unspecified. Any dtype but bool.
// Throws when dim is out of range or has no elements.
ValuesAndIndices Median(const Tensor& x, inner::Integer dim, inner::Flag keepdim = false);
// The median of all elements; only the value.
Tensor Median(const Tensor& x);

// The k-th smallest element along `dim`, k from 1 on, and its index (torch.kthvalue). NaN counts as
// larger than any number. The gradient goes to the element at the index. Any dtype but bool. Throws
// when dim is out of range and unless 1 <= k <= its size.
ValuesAndIndices Kthvalue(const Tensor& x, inner::Integer k, inner::Integer dim = -1,
                          inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_MEDIAN_H_

#ifndef FIRN_TENSOR_OPS_INDEX_MASKS_H_
#define FIRN_TENSOR_OPS_INDEX_MASKS_H_

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct NonzeroAttrs {
  int64_t count = 0;  // the number of elements that are not zero
  template <class V>
  void Visit(V& v) {
    v.Field("count", count);
  }
};
}  // namespace inner

// The indices of the elements of x that are not zero (NaN is not), in row-major order: i64 [count,
// rank]. The count depends on the values, which are read on the host: an error during capture.
Tensor Nonzero(const Tensor& x);

// The elements of x where `mask` (bool) is true, as a 1-D tensor in row-major order; x and mask
// broadcast together. Its size depends on the mask's values, which are read on the host: an error
// during capture.
Tensor MaskedSelect(const Tensor& x, const Tensor& mask);

// A copy of x in which the elements of `source`, row-major, fill those where `mask` (bool,
// broadcast to x) is true, in order (torch.masked_scatter). Source has x's dtype and any shape;
// further elements are not used. Any dtype. Throws when there are fewer elements than places.
Tensor MaskedScatter(const Tensor& x, const Tensor& mask, const Tensor& source);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_MASKS_H_

#ifndef FIRN_TENSOR_OPS_INDEX_PUT_H_
#define FIRN_TENSOR_OPS_INDEX_PUT_H_

#include <vector>

#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct IndexArrays;

struct IndexPutAttrs {
  std::vector<int64_t> dims;  // of x, one for each index tensor, ascending
  bool accumulate = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
    v.Field("accumulate", accumulate);
  }
};
}  // namespace inner

// A copy of x whose elements at `indices` (as for Index) are replaced by `values`, which broadcast
// to the shape of Index(x, indices) and are converted to x's dtype. With `accumulate` they are
// added instead. Of several values for one place the last stays (its gradient then goes to all of
// them).
Tensor IndexPut(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values,
                bool accumulate = false);
Tensor IndexPut(const Tensor& x, const inner::IndexArrays& indices, const Tensor& values,
                bool accumulate = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_PUT_H_

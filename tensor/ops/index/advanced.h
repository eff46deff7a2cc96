#ifndef FIRN_TENSOR_OPS_INDEX_ADVANCED_H_
#define FIRN_TENSOR_OPS_INDEX_ADVANCED_H_

#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct IndexArrays;  // index tensors and the dimensions they stand for, see advanced_index.h

struct IndexAttrs {
  DimList dims;  // of x, one for each index tensor, ascending
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
  }
};
}  // namespace inner

// NumPy's advanced indexing; x[{...}] (tensor/index.h) is the convenient form. `indices` has an
// entry for each leading dimension of x:
//   undefined          the whole dimension
//   i32 or i64 tensor  these positions of it; negative ones count from the end
//   bool tensor        where it is true; stands for as many dimensions as it has, of equal sizes
// All index tensors broadcast to one shape, which replaces the indexed dimensions if they are
// neighbours, else comes first. A copy. A bool tensor is read on the host: an error during capture.
// Throws on an index outside its dimension.
Tensor Index(const Tensor& x, const std::vector<Tensor>& indices);

namespace inner {
// Like Index, with index tensors and the dimensions that they index.
Tensor IndexAt(const Tensor& x, const IndexArrays& indices);

struct IndexPutAttrs {
  DimList dims;  // of x, one for each index tensor, ascending
  bool accumulate = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
    v.Field("accumulate", accumulate);
  }
};
}  // namespace inner

// A copy of x whose elements at `indices` (as for Index) are replaced by `values`, which broadcast
// to the shape of Index(x, indices) and are converted to x's dtype, which has to hold a number
// (Full). With `accumulate` they are added instead. Among several values for one place the last
// stays (its gradient then goes to all of them).
Tensor IndexPut(const Tensor& x, const std::vector<Tensor>& indices, const Tensor& values,
                inner::Flag accumulate = false);

namespace inner {
// Like IndexPut, with index tensors and the dimensions that they index.
Tensor IndexPutAt(const Tensor& x, const IndexArrays& indices, const Tensor& values,
                  bool accumulate = false);

// Overwrites target's elements at `indices`, in place, with `values`, which broadcast to the shape
// of Index(target, indices) and are converted to its dtype, like x[indices] = values. Throws while
// the gradient of either is being recorded; IndexPut is the operation with a gradient.
void IndexWrite(const Tensor& target, const IndexArrays& indices, const Tensor& values);
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_INDEX_ADVANCED_H_

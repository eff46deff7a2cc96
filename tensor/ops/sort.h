#ifndef FIRN_TENSOR_OPS_SORT_H_
#define FIRN_TENSOR_OPS_SORT_H_

#include "tensor/ops/values_and_indices.h"

namespace firn {

namespace inner {
struct SortAttrs {
  int64_t dim = -1;
  bool descending = false;
  bool stable = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("descending", descending);
    v.Field("stable", stable);
  }
};
}  // namespace inner

struct SortOptions {
  bool descending = false;
  bool stable = false;
};

// The elements along `dim` in order. NaN counts as larger than any number. `stable` promises that
// equal elements keep their order. Any dtype; the gradient goes back where the values came from.
ValuesAndIndices Sort(const Tensor& x, int64_t dim = -1, const SortOptions& options = {});
// The indices only. Not differentiable.
Tensor Argsort(const Tensor& x, int64_t dim = -1, const SortOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SORT_H_

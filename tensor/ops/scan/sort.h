#ifndef FIRN_TENSOR_OPS_SCAN_SORT_H_
#define FIRN_TENSOR_OPS_SCAN_SORT_H_

#include "firn/tensor/ops/reduce/values_and_indices.h"

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
// equal elements keep their order. Any dtype; the gradient goes back to the places of the values.
ValuesAndIndices Sort(const Tensor& x, inner::Integer dim = -1, const SortOptions& options = {});
// The indices only. Not differentiable.
Tensor Argsort(const Tensor& x, inner::Integer dim = -1, const SortOptions& options = {});

namespace inner {
struct TopkAttrs {
  int64_t k = 1;
  int64_t dim = -1;
  bool largest = true;
  bool sorted = true;
  template <class V>
  void Visit(V& v) {
    v.Field("k", k);
    v.Field("dim", dim);
    v.Field("largest", largest);
    v.Field("sorted", sorted);
  }
};
}  // namespace inner

struct TopkOptions {
  bool largest = true;
  bool sorted = true;
};

// The k largest (or smallest) elements along `dim` and their indices. NaN counts as larger than any
// number; the first of equal elements are taken. With `sorted` the best comes first, else the order
// is unspecified. Any dtype; the gradient goes back to the places of the values. Throws unless 0 <=
// k <= the size of the dimension.
ValuesAndIndices Topk(const Tensor& x, inner::Integer k, inner::Integer dim = -1,
                      const TopkOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_SCAN_SORT_H_

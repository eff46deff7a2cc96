#ifndef FIRN_TENSOR_PROBLEMS_REDUCE_ATTRS_H_
#define FIRN_TENSOR_PROBLEMS_REDUCE_ATTRS_H_

#include <cstdint>

#include "firn/tensor/dim_list.h"

namespace firn::inner {

// The attributes of every reduction: the dimensions to reduce (empty: all) and whether they stay
// with size 1.
struct ReduceAttrs {
  DimList dims;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dims", dims);
    v.Field("keepdim", keepdim);
  }
};

// The attributes of argmax and argmin: one dimension, or all as one (`flatten`; then `dim` means
// nothing).
struct ArgReduceAttrs {
  int64_t dim = 0;
  bool flatten = true;
  bool keepdim = false;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
    v.Field("flatten", flatten);
    v.Field("keepdim", keepdim);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_PROBLEMS_REDUCE_ATTRS_H_

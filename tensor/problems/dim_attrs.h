#ifndef FIRN_TENSOR_PROBLEMS_DIM_ATTRS_H_
#define FIRN_TENSOR_PROBLEMS_DIM_ATTRS_H_

#include <cstdint>

namespace firn::inner {

// The attributes of every operation on one dimension, counted from the end when negative.
struct DimAttrs {
  int64_t dim = -1;
  template <class V>
  void Visit(V& v) {
    v.Field("dim", dim);
  }
};

}  // namespace firn::inner

#endif  // FIRN_TENSOR_PROBLEMS_DIM_ATTRS_H_

#ifndef FIRN_TENSOR_OPS_REDUCE_VALUES_AND_INDICES_H_
#define FIRN_TENSOR_OPS_REDUCE_VALUES_AND_INDICES_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Elements chosen from others, and their places (i64): along a dimension, or in an image.
struct ValuesAndIndices {
  Tensor values, indices;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_VALUES_AND_INDICES_H_

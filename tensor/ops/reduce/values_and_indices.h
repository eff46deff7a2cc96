#ifndef FIRN_TENSOR_OPS_REDUCE_VALUES_AND_INDICES_H_
#define FIRN_TENSOR_OPS_REDUCE_VALUES_AND_INDICES_H_

#include "tensor/tensor.h"

namespace firn {

// Elements chosen along a dimension, and where they stood there (i64).
struct ValuesAndIndices {
  Tensor values, indices;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_VALUES_AND_INDICES_H_

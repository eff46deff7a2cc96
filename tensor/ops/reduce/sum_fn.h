#ifndef FIRN_TENSOR_OPS_REDUCE_SUM_FN_H_
#define FIRN_TENSOR_OPS_REDUCE_SUM_FN_H_

#include "device/inner.h"
#include "tensor/kernels/reducers.h"

namespace firn {

// See kernels/cpu/reduce.h for what a reducer is.
template <class Acc>
struct MeanReducer : SumReducer<Acc> {
  Acc count;
  explicit MeanReducer(int64_t n) : count(static_cast<Acc>(n)) {}
  template <class Out>
  FIRN_HOST_DEVICE Out finish(Acc a) const {
    return static_cast<Out>(a / count);
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_SUM_FN_H_

#ifndef FIRN_TENSOR_OPS_REDUCE_MOMENTS_H_
#define FIRN_TENSOR_OPS_REDUCE_MOMENTS_H_

#include "firn/tensor/problems/reduce_attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct VarAttrs {
  ReduceAttrs over;
  int64_t correction = 1;
  template <class V>
  void Visit(V& v) {
    over.Visit(v);
    v.Field("correction", correction);
  }
};
}  // namespace inner

// The variance over `dims` (empty: all): the sum of squared deviations from the mean, divided by
// the number n of elements less `correction` (1: the unbiased estimate from a sample; 0: the
// variance of all elements, NumPy's default). NaN or infinite where n <= correction. Half types
// compute in float. Throws on integers and bool.
Tensor Var(const Tensor& x, const DimList& dims = {}, inner::Integer correction = 1,
           inner::Flag keepdim = false);

// The standard deviation, the square root of Var. Where it is 0 its gradient is 0.
Tensor Std(const Tensor& x, const DimList& dims = {}, inner::Integer correction = 1,
           inner::Flag keepdim = false);

// Var and the mean from one pass.
struct VarMeanResult {
  Tensor var, mean;
};
VarMeanResult VarMean(const Tensor& x, const DimList& dims = {}, inner::Integer correction = 1,
                      inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_MOMENTS_H_

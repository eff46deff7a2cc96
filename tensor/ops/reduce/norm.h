#ifndef FIRN_TENSOR_OPS_REDUCE_NORM_H_
#define FIRN_TENSOR_OPS_REDUCE_NORM_H_

#include "firn/tensor/dim_list.h"
#include "firn/tensor/problems/reduce_attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct NormAttrs {
  double p = 2;
  ReduceAttrs over;
  double scale = 1;  // the norm's factor, applied before rounding to its dtype
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    over.Visit(v);
    v.Field("scale", scale);
  }
};

// The norms of x over `dims`, which keep size 1, times `scale`: a power of two by which all of them
// fit the dtype. Small norms keep their digits, except the smallest numbers of the dtype.
struct ScaledNorms {
  Tensor norms;
  double scale;
};
ScaledNorms ScaledNorm(const Tensor& x, double p, const DimList& dims);
}  // namespace inner

// The p-norm (sum |x|^p)^(1/p) of the elements over `dims` (empty: all), like
// torch.linalg.vector_norm: p = 0 counts the elements that are not 0, infinity takes the largest
// and -infinity the smallest |x|. Norm(x, 2, {-2, -1}) is the Frobenius norm of matrices. The
// gradient is 0 where the norm is 0; elements that tie for an infinite norm share it. A norm that
// its dtype holds is right even where the powers overflow or underflow the dtype (on CUDA, double),
// and so are its gradients for p = 2. Half types accumulate in float. Throws on integers, a
// negative finite p, NaN, and no elements with an infinite p.
Tensor Norm(const Tensor& x, inner::Real p = 2, const DimList& dims = {},
            inner::Flag keepdim = false);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_REDUCE_NORM_H_

#ifndef FIRN_TENSOR_OPS_RANDN_H_
#define FIRN_TENSOR_OPS_RANDN_H_

#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct RandnAttrs {
  Dims shape;
  double mean = 0, std = 1;
  DType dtype = kDefaultFloat;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("mean", mean);
    v.Field("std", std);
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// Normally distributed numbers of a floating dtype. For means and deviations that are tensors write
// mean + std * Randn(...). Throws when std is negative.
Tensor Randn(const Shape& shape, double mean, double std, DType dtype = kDefaultFloat,
             const RandomOptions& options = {});
inline Tensor Randn(const Shape& shape, DType dtype = kDefaultFloat,
                    const RandomOptions& options = {}) {
  return Randn(shape, 0, 1, dtype, options);
}
// Of x's shape, dtype and device.
Tensor RandnLike(const Tensor& x, double mean = 0, double std = 1);

// Randn under the name of the distribution.
inline Tensor Normal(const Shape& shape, double mean, double std, DType dtype = kDefaultFloat,
                     const RandomOptions& options = {}) {
  return Randn(shape, mean, std, dtype, options);
}
inline Tensor Normal(const Shape& shape, DType dtype = kDefaultFloat,
                     const RandomOptions& options = {}) {
  return Randn(shape, dtype, options);
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDN_H_

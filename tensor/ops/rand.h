#ifndef FIRN_TENSOR_OPS_RAND_H_
#define FIRN_TENSOR_OPS_RAND_H_

#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace firn {

namespace inner {
struct RandAttrs {
  Dims shape;
  double low = 0, high = 1;
  DType dtype = kDefaultFloat;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("low", low);
    v.Field("high", high);
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// Numbers uniform on [low, high), of a floating dtype. Throws unless low < high and their distance
// is finite.
Tensor Rand(const Shape& shape, double low, double high, DType dtype = kDefaultFloat,
            const RandomOptions& options = {});
inline Tensor Rand(const Shape& shape, DType dtype = kDefaultFloat,
                   const RandomOptions& options = {}) {
  return Rand(shape, 0, 1, dtype, options);
}
// Of x's shape, dtype and device.
Tensor RandLike(const Tensor& x, double low = 0, double high = 1);

// Rand under the name of the distribution.
inline Tensor Uniform(const Shape& shape, double low, double high, DType dtype = kDefaultFloat,
                      const RandomOptions& options = {}) {
  return Rand(shape, low, high, dtype, options);
}
inline Tensor Uniform(const Shape& shape, DType dtype = kDefaultFloat,
                      const RandomOptions& options = {}) {
  return Rand(shape, dtype, options);
}
// One number on [0, 1), drawn on the host from the CPU's default generator: for decisions in a
// program. Throws during capture, where a decision would be taken once and for all.
double Uniform();

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RAND_H_

#ifndef FIRN_TENSOR_OPS_RANDOM_DRAWS_H_
#define FIRN_TENSOR_OPS_RANDOM_DRAWS_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

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
Tensor Rand(const Shape& shape, inner::Real low, inner::Real high, DType dtype = kDefaultFloat,
            const RandomOptions& options = {});
inline Tensor Rand(const Shape& shape, DType dtype = kDefaultFloat,
                   const RandomOptions& options = {}) {
  return Rand(shape, 0, 1, dtype, options);
}
// Like x in shape, dtype and device.
Tensor RandLike(const Tensor& x, inner::Real low = 0, inner::Real high = 1);

// Rand under the name of the distribution.
inline Tensor Uniform(const Shape& shape, inner::Real low, inner::Real high,
                      DType dtype = kDefaultFloat, const RandomOptions& options = {}) {
  return Rand(shape, low, high, dtype, options);
}
inline Tensor Uniform(const Shape& shape, DType dtype = kDefaultFloat,
                      const RandomOptions& options = {}) {
  return Rand(shape, dtype, options);
}
// One number on [0, 1), drawn on the host from the CPU's default generator: for decisions in a
// program. Throws during capture, where a decision would be made once for all runs.
double Uniform();

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
Tensor Randn(const Shape& shape, inner::Real mean, inner::Real std, DType dtype = kDefaultFloat,
             const RandomOptions& options = {});
inline Tensor Randn(const Shape& shape, DType dtype = kDefaultFloat,
                    const RandomOptions& options = {}) {
  return Randn(shape, 0, 1, dtype, options);
}
// Like x in shape, dtype and device.
Tensor RandnLike(const Tensor& x, inner::Real mean = 0, inner::Real std = 1);

// Randn under the name of the distribution.
inline Tensor Normal(const Shape& shape, inner::Real mean, inner::Real std,
                     DType dtype = kDefaultFloat, const RandomOptions& options = {}) {
  return Randn(shape, mean, std, dtype, options);
}
inline Tensor Normal(const Shape& shape, DType dtype = kDefaultFloat,
                     const RandomOptions& options = {}) {
  return Randn(shape, dtype, options);
}

namespace inner {
struct RandintAttrs {
  Dims shape;
  int64_t low = 0, high = 1;
  DType dtype = DType::kI64;
  template <class V>
  void Visit(V& v) {
    v.Field("shape", shape);
    v.Field("low", low);
    v.Field("high", high);
    v.Field("dtype", dtype);
  }
};
}  // namespace inner

// Integers uniform on [low, high), of any dtype but bool. Throws unless low < high and the dtype
// holds both ends.
Tensor Randint(inner::Integer low, inner::Integer high, const Shape& shape,
               DType dtype = DType::kI64, const RandomOptions& options = {});

// 1 with probability p, else 0, for every element of p (floating; the result has its shape and
// dtype). No gradient flows to p. Throws on a p outside [0, 1].
Tensor Bernoulli(const Tensor& p, RandomGenerator* generator = nullptr);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_DRAWS_H_

#ifndef FIRN_TENSOR_OPS_BERNOULLI_H_
#define FIRN_TENSOR_OPS_BERNOULLI_H_

#include "tensor/rng.h"
#include "tensor/tensor.h"

namespace firn {

// 1 with probability p, else 0, for every element of p (floating; the result has its shape and
// dtype). No gradient flows to p. Throws on a p outside [0, 1].
Tensor Bernoulli(const Tensor& p, RandomGenerator* generator = nullptr);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_BERNOULLI_H_

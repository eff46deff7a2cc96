#ifndef FIRN_TENSOR_OPS_RANDOM_DISTRIBUTIONS_H_
#define FIRN_TENSOR_OPS_RANDOM_DISTRIBUTIONS_H_

#include "firn/tensor/rng.h"
#include "firn/tensor/tensor.h"

namespace firn {

// How many of `count` trials succeed when each does with probability `prob`, like PyTorch's
// binomial: tensors or numbers, which broadcast; the result has their floating dtype (f32 for
// integers). Counts are rounded down. No gradient flows to either. Throws on a count that is
// negative or not finite, and on a prob outside [0, 1]; on a CUDA device, where they are not
// checked, these give NaN.
Tensor Binomial(const Tensor& count, const Tensor& prob, RandomGenerator* generator = nullptr);

struct RandGammaOptions {
  bool log = false;  // the logarithms of the numbers, which stay finite for small shape parameters
  RandomGenerator* generator = nullptr;  // null: the device's default generator
};

namespace inner {
struct RandGammaAttrs {
  bool log = false;
  template <class V>
  void Visit(V& v) {
    v.Field("log", log);
  }
};
}  // namespace inner

// Numbers of the gamma distribution with density x^(a - 1) e^(-x / scale) up to a factor, for a
// `shape_parameter` a: tensors or numbers, which broadcast; the result has the floating dtype of
// the shape parameter (f32 for integers). A shape parameter of 0 gives 0, another no less than the
// dtype's smallest normal number.
//
// The gradient to the shape parameter is that of the number while the probability of smaller ones
// stays fixed (implicit reparameterisation: M. Figurnov, S. Mohamed and A. Mnih, 2018; PyTorch's
// _standard_gamma); it is not differentiable again. Throws on a shape parameter that is negative or
// NaN, or with `log` 0; on a CUDA device these give NaN.
Tensor RandGamma(const Tensor& shape_parameter, const RandGammaOptions& options = {});
Tensor RandGamma(const Tensor& shape_parameter, const Tensor& scale,
                 const RandGammaOptions& options = {});

// Numbers of the beta distribution on [0, 1], with density x^(a - 1) (1 - x)^(b - 1) up to a
// factor: x / (x + y) for two numbers of gamma distributions, computed from their logarithms in
// f64. Tensors or numbers, which broadcast; dtype, gradients and errors are those of RandGamma's
// `log`.
Tensor RandBeta(const Tensor& a, const Tensor& b, RandomGenerator* generator = nullptr);

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_DISTRIBUTIONS_H_

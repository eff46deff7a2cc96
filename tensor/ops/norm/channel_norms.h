#ifndef FIRN_TENSOR_OPS_NORM_CHANNEL_NORMS_H_
#define FIRN_TENSOR_OPS_NORM_CHANNEL_NORMS_H_

#include "firn/tensor/tensor.h"

namespace firn {

// Instance normalisation (Ulyanov et al., 2016; PyTorch's instance_norm with use_input_stats):
// mean and biased variance of each channel of each sample, then a scale and shift per channel.
// x: [n, c, ...], with more than one value per channel      weight, bias: [c], or undefined for 1
// and 0. Throws on other shapes.
Tensor InstanceNorm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                    inner::Real eps = 1e-5);

struct LocalResponseNormOptions {
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
};

// Local response normalisation (Krizhevsky et al., 2012; PyTorch's local_response_norm):
//   y = x / (k + alpha mean(x^2))^beta,
// the mean being over `size` channels around each, where missing channels count as 0; the window of
// an even size has one more channel below than above. x: [n, c, ...] of rank 3 or more, floating.
// Throws unless size is 1 or more.
Tensor LocalResponseNorm(const Tensor& x, inner::Integer size,
                         const LocalResponseNormOptions& options = {});

struct MeanSubtractionOptions {
  int64_t base_dim = 1;  // the mean is over the dimensions before it
  bool training = true;
};

// x less its running mean (NNabla's mean_subtraction). In training the mean is first moved, in
// place, to the batch's by 1 / (count + 1) of the way, and count grows by 1; the gradient is that
// through the present batch. An x without elements moves nothing.
// x: floating      running_mean: the sizes of x from base_dim on, of x's dtype      count: i64 of
// one element. Throws on others.
Tensor MeanSubtraction(const Tensor& x, const Tensor& running_mean, const Tensor& count,
                       const MeanSubtractionOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_NORM_CHANNEL_NORMS_H_

#ifndef FIRN_TENSOR_OPS_LOSS_LIKELIHOOD_H_
#define FIRN_TENSOR_OPS_LOSS_LIKELIHOOD_H_

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

struct PoissonNllLossOptions {
  bool log_input = true;  // x is the logarithm of the rate
  bool full = false;      // adds Stirling's approximation of log target! where target > 1
  double eps = 1e-8;      // keeps log(x + eps) finite; without log_input only
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("log_input", log_input);
    v.Field("full", full);
    v.Field("eps", eps);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const { inner::CheckLossReduction(reduction, where); }
};

// The negative log likelihood of counts under a Poisson distribution, like
// torch.nn.functional.poisson_nll_loss: e^x - target x, or, if x is the rate itself, x - target
// log(x + eps). Two floating tensors of one shape and dtype: shapes that would broadcast are an
// error. The constant log target! is left out unless `full`.
Tensor PoissonNllLoss(const Tensor& x, const Tensor& target,
                      const PoissonNllLossOptions& options = {});

struct GaussianNllLossOptions {
  bool full = false;  // adds the constant log(2 pi) / 2
  double eps = 1e-6;  // smaller variances count as this
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("full", full);
    v.Field("eps", eps);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const;
};

// The negative log likelihood of targets under normal distributions, like
// torch.nn.functional.gaussian_nll_loss: (log v + (mean - target)^2 / v) / 2 with v = max(var,
// eps), where the maximum passes gradients to var unchanged. Floating tensors of one dtype; mean
// and target have one shape, and var has it too, or lacks the last dimension, or has 1 there.
// Throws on other shapes and unless eps is above 0. A negative variance counts as eps (PyTorch
// refuses it).
Tensor GaussianNllLoss(const Tensor& mean, const Tensor& target, const Tensor& var,
                       const GaussianNllLossOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_LIKELIHOOD_H_

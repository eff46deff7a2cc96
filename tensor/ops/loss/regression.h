#ifndef FIRN_TENSOR_OPS_LOSS_REGRESSION_H_
#define FIRN_TENSOR_OPS_LOSS_REGRESSION_H_

#include "firn/tensor/problems/reduction_mode.h"
#include "firn/tensor/tensor.h"

namespace firn {

// |x - y|, its mean or its sum. Two floating tensors of one shape and dtype: shapes that would
// broadcast are an error. The gradient is 0 where they are equal.
Tensor L1Loss(const Tensor& x, const Tensor& y, const LossOptions& options = {});
template <inner::OnlyReduction R>
Tensor L1Loss(const Tensor& x, const Tensor& y, R reduction) {
  return L1Loss(x, y, LossOptions{reduction});
}

// (x - y)^2, its mean or its sum. Two floating tensors of one shape and dtype: shapes that
// would broadcast are an error.
Tensor MseLoss(const Tensor& x, const Tensor& y, const LossOptions& options = {});
template <inner::OnlyReduction R>
Tensor MseLoss(const Tensor& x, const Tensor& y, R reduction) {
  return MseLoss(x, y, LossOptions{reduction});
}

namespace inner {
struct SmoothL1LossAttrs {
  Reduction reduction = Reduction::kMean;
  double beta = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("beta", beta);
  }
  void Check(const char* where) const;
};
}  // namespace inner
using SmoothL1LossOptions = inner::SmoothL1LossAttrs;

// With d = |x - y|, d^2 / (2 beta) below beta, d - beta / 2 from there on; its mean or its sum.
// It is HuberLoss divided by its delta; beta 0 is L1Loss. Two floating tensors of one shape and
// dtype: shapes that would broadcast are an error. Throws on a negative or infinite beta.
Tensor SmoothL1Loss(const Tensor& x, const Tensor& y, const SmoothL1LossOptions& options = {});

struct HuberLossOptions {
  Reduction reduction = Reduction::kMean;
  double delta = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("delta", delta);
  }
  void Check(const char* where) const;
};

// With d = |x - y|, d^2 / 2 below delta, delta (d - delta / 2) from there on (Huber, 1964); its
// mean or its sum. It is delta times SmoothL1Loss with beta = delta. Two floating tensors of one
// shape and dtype: shapes that would broadcast are an error. Throws unless delta is above 0 and
// finite.
Tensor HuberLoss(const Tensor& x, const Tensor& y, const HuberLossOptions& options = {});

struct EpsilonInsensitiveLossOptions {
  double epsilon = 0;  // what does not count
  Reduction reduction = Reduction::kNone;
  template <class V>
  void Visit(V& v) {
    v.Always("epsilon", epsilon);
    v.Field("reduction", reduction);
  }
  void Check(const char* where) const;
};

// max(0, |x - y| - epsilon) (Vapnik, 1995; NNabla's epsilon_insensitive_loss), of every element
// unless another reduction is asked for. The gradient is 0 up to epsilon. Two floating tensors of
// one shape and dtype: shapes that would broadcast are an error. Throws on an epsilon below 0.
Tensor EpsilonInsensitiveLoss(const Tensor& x, const Tensor& y,
                              const EpsilonInsensitiveLossOptions& options);
Tensor EpsilonInsensitiveLoss(const Tensor& x, const Tensor& y, inner::Real epsilon,
                              Reduction reduction = Reduction::kNone);

namespace inner {
struct KlDivAttrs {
  Reduction reduction = Reduction::kMean;
  bool log_target = false;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("log_target", log_target);
  }
};
}  // namespace inner
using KlDivOptions = inner::KlDivAttrs;

// The terms p (log p - log_q) of the Kullback-Leibler divergence from q to p, 0 for p = 0, like
// torch.nn.functional.kl_div. With `log_target` p is given as its logarithm. Two floating tensors
// of one shape and dtype. The default mean is over all elements, like PyTorch's; the divergence of
// distributions, averaged over a batch, is Reduction::kBatchMean.
Tensor KlDiv(const Tensor& log_q, const Tensor& p, const KlDivOptions& options = {});

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_LOSS_REGRESSION_H_

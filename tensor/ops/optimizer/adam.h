#ifndef FIRN_TENSOR_OPS_OPTIMIZER_ADAM_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_ADAM_H_

#include "firn/tensor/ops/optimizer/semantics.h"

namespace firn {

namespace inner {

// Options of optim::Adam and optim::AdamW: Adam (Kingma & Ba, 2015) as torch.optim.Adam does it, or
// AdamW (Loshchilov & Hutter, 2019). With t = step + 1:
//   g = grad + weight_decay param                  (AdamW: param *= 1 - lr weight_decay instead)
//   exp_avg = beta1 exp_avg + (1 - beta1) g        exp_avg_sq = beta2 exp_avg_sq + (1 - beta2) g^2
//   param -= lr / (1 - beta1^t) exp_avg / (sqrt(u / (1 - beta2^t)) + eps)
// where u is exp_avg_sq or, with amsgrad (Reddi et al., 2018), its maximum so far, kept in
// max_exp_avg_sq. NNabla adds eps to the uncorrected root, (sqrt(u) + eps) / sqrt(1 - beta2^t), as
// eps_uncorrected does alone, and its AdamW's decay is lr / base_lr weight_decay param.
template <bool kDecoupled>
struct AdamOptionsOf {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = kDecoupled ? 1e-2 : 0;
  bool amsgrad = false;
  bool bias_correction = true;  // false: without the divisions by 1 - beta^t (NNabla's AMSGRAD)
  bool eps_uncorrected = false;
  optim::Semantics semantics = optim::Semantics::kPyTorch;
  double base_lr = 0;  // of NNabla's decay; 0: the lr that the group begins with
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("amsgrad", amsgrad);
    v.Field("bias_correction", bias_correction);
    v.Field("eps_uncorrected", eps_uncorrected);
    v.Field("semantics", semantics);
    v.Field("base_lr", base_lr);
  }
  // Called with the options of a new group.
  void Complete() {
    if (base_lr == 0) base_lr = lr;
  }
};

struct AdamStepAttrs : AdamOptionsOf<false> {
  bool decoupled = false;  // AdamW: the decay shrinks the parameter and not the gradient
  template <class V>
  void Visit(V& v) {
    AdamOptionsOf<false>::Visit(v);
    v.Field("decoupled", decoupled);
  }
};

}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_ADAM_H_

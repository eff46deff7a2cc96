#ifndef FIRN_OPTIM_ADAM_H_
#define FIRN_OPTIM_ADAM_H_

#include "firn/optim/rule_optimizer.h"
#include "firn/optim/semantics.h"

namespace firn::inner {

// Options of Adam and optim::AdamW: Adam (Kingma & Ba, 2015) as torch.optim.Adam does it, or
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

}  // namespace firn::inner

namespace firn::optim {

// Adam adds weight_decay * parameter to the gradient; AdamW's decay, 1e-2 by default, shrinks
// parameters directly, by lr * weight_decay * parameter.
using AdamOptions = inner::AdamOptionsOf<false>;
using AdamWOptions = inner::AdamOptionsOf<true>;

// State: exp_avg, exp_avg_sq and, with amsgrad, max_exp_avg_sq.
using Adam = OptimizerByRule<struct AdamRule, AdamOptions>;
using AdamW = OptimizerByRule<struct AdamWRule, AdamWOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_H_

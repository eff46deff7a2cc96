#ifndef FIRN_OPTIM_ADAM_FAMILY_H_
#define FIRN_OPTIM_ADAM_FAMILY_H_

#include "firn/optim/rule_optimizer.h"
#include "firn/optim/semantics.h"

namespace firn::optim {

// Options of Adamax: Adamax (Kingma & Ba, 2015) as torch.optim.Adamax. With t = step + 1:
//   g = grad + weight_decay param       exp_avg = beta1 exp_avg + (1 - beta1) g
//   exp_inf = max(beta2 exp_inf, |g| + eps)       param -= lr / (1 - beta1^t) exp_avg / exp_inf
// NNabla adds eps to the denominator instead.
struct AdamaxOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  Semantics semantics = Semantics::kPyTorch;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("semantics", semantics);
  }
};

// Options of Nadam: Adam with Nesterov's momentum (Dozat, 2016) as torch.optim.NAdam.
// exp_avg and exp_avg_sq are Adam's. With t = step + 1, m_i = beta1 (1 - 0.96^(i momentum_decay) /
// 2) and M the product of m_1, ..., m_t:
//   param -= lr ((1 - m_t) / (1 - M) g + m_(t+1) / (1 - M m_(t+1)) exp_avg)
//            / (sqrt(exp_avg_sq / (1 - beta2^t)) + eps)
// weight_decay is added to the gradient or, decoupled, shrinks the parameter as AdamW's.
struct NadamOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("momentum_decay", momentum_decay);
    v.Field("decoupled_weight_decay", decoupled_weight_decay);
  }
};

// Options of Radam: rectified Adam (Liu et al., 2020) as torch.optim.RAdam. exp_avg and
// exp_avg_sq are Adam's. With t = step + 1, L = 2 / (1 - beta2) - 1 and
// l = L - 2 t beta2^t / (1 - beta2^t), where l > 5:
//   r = sqrt((l - 4) (l - 2) L / ((L - 4) (L - 2) l))
//   param -= lr r exp_avg / (1 - beta1^t) sqrt(1 - beta2^t) / (sqrt(exp_avg_sq) + eps)
// and before that, param -= lr exp_avg / (1 - beta1^t). weight_decay is added to the gradient or,
// decoupled, shrinks the parameter as AdamW's.
struct RadamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("decoupled_weight_decay", decoupled_weight_decay);
  }
};

// Options of Adabelief: AdaBelief (Zhuang et al., 2020) with NNabla's defaults. With
// t = step + 1:
//   g = grad + weight_decay param       exp_avg = beta1 exp_avg + (1 - beta1) g
//   exp_avg_var = beta2 exp_avg_var + (1 - beta2) (g - exp_avg)^2 + eps
//   param -= lr / (1 - beta1^t) exp_avg / (sqrt(u / (1 - beta2^t)) + eps)
// where u is exp_avg_var or, with amsgrad, its maximum so far, kept in max_exp_avg_var.
// weight_decouple: the decay shrinks the parameter, by lr weight_decay, or, with fixed_decay, by
// weight_decay, and leaves the gradient alone. rectify: the step is multiplied by r of Radam where
// its l > 4, and before that it is lr / (1 - beta1^t) exp_avg.
struct AdabeliefOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool weight_decouple = false;
  bool fixed_decay = false;
  bool rectify = false;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("amsgrad", amsgrad);
    v.Field("weight_decouple", weight_decouple);
    v.Field("fixed_decay", fixed_decay);
    v.Field("rectify", rectify);
  }
};

// Options of Adabound: AdaBound (Luo et al., 2019), Adam whose rates are drawn towards one
// rate as training goes on. exp_avg and exp_avg_sq are Adam's. With t = step + 1 and
// f = final_lr lr / base_lr:
//   rate = lr sqrt(1 - beta2^t) / (1 - beta1^t) / (sqrt(u) + eps)
//   param -= clamp(rate, f (1 - 1 / (gamma t + 1)), f (1 + 1 / (gamma t))) exp_avg
// where u is exp_avg_sq or, with amsbound, its maximum so far, kept in max_exp_avg_sq.
struct AdaboundOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double final_lr = 0.1;
  double gamma = 1e-3;
  bool amsbound = false;
  bool bias_correction = true;  // NNabla's AMSBound has false
  double base_lr = 0;           // to which final_lr belongs; 0: the lr that the group begins with
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("final_lr", final_lr);
    v.Field("gamma", gamma);
    v.Field("amsbound", amsbound);
    v.Field("bias_correction", bias_correction);
    v.Field("base_lr", base_lr);
  }
  // Called with the options of a new group.
  void Complete() {
    if (base_lr == 0) base_lr = lr;
  }
};

// Relatives of Adam. State: exp_avg and exp_inf (Adamax), exp_avg_var (Adabelief) or exp_avg_sq;
// max_exp_avg_var with amsgrad, max_exp_avg_sq with amsbound.
using Adamax = OptimizerByRule<struct AdamaxRule, AdamaxOptions>;
using Nadam = OptimizerByRule<struct NadamRule, NadamOptions>;
using Radam = OptimizerByRule<struct RadamRule, RadamOptions>;
using Adabelief = OptimizerByRule<struct AdabeliefRule, AdabeliefOptions>;
using Adabound = OptimizerByRule<struct AdaboundRule, AdaboundOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_FAMILY_H_

#ifndef FIRN_OPTIM_SIGN_STEPS_H_
#define FIRN_OPTIM_SIGN_STEPS_H_

#include "firn/optim/rule_optimizer.h"

namespace firn::optim {

// Options of Lion: Lion (Chen et al., 2023): steps of one size, in the direction of a moving
// average of gradients.
//   param -= lr (sign(beta1 exp_avg + (1 - beta1) grad) + weight_decay param)
//   exp_avg = beta2 exp_avg + (1 - beta2) grad
struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("weight_decay", weight_decay);
  }
};

// Options of Rprop: resilient backpropagation (Riedmiller & Braun, 1993) as
// torch.optim.Rprop, for whole batches. Each element has a step of its own, lr at first:
//   step_size *= eta_plus where grad has prev's sign, eta_minus where it has the other; within
//   [min_step, max_step]
//   g = grad, or 0 where the sign changed       param -= sign(g) step_size       prev = g
struct RpropOptions {
  double lr = 1e-2;
  double eta_minus = 0.5;
  double eta_plus = 1.2;
  double min_step = 1e-6;
  double max_step = 50;
  template <class V>
  void Visit(V& v) {
    v.Field("eta_minus", eta_minus);
    v.Field("eta_plus", eta_plus);
    v.Field("min_step", min_step);
    v.Field("max_step", max_step);
  }
};

// State: exp_avg; prev and step_size.
using Lion = OptimizerByRule<struct LionRule, LionOptions>;
using Rprop = OptimizerByRule<struct RpropRule, RpropOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SIGN_STEPS_H_

#ifndef FIRN_OPTIM_TRUST_RATIO_H_
#define FIRN_OPTIM_TRUST_RATIO_H_

#include "firn/optim/rule_optimizer.h"

namespace firn::optim {

// Options of Lamb: LAMB (You et al., 2020), Adam whose steps are as long as the parameter.
//   exp_avg = beta1 exp_avg + (1 - beta1) grad   exp_avg_sq = beta2 exp_avg_sq + (1 - beta2) grad^2
//   r = exp_avg / (sqrt(exp_avg_sq) + eps) + weight_decay param
//   param -= lr clamp(|param|, gamma_l, gamma_u) / |r| r       (where |r| > eps; lr r otherwise)
// With t = step + 1, bias_correction divides exp_avg by 1 - beta1^t and exp_avg_sq by 1 - beta2^t
// in r, as in the paper. NNabla, whose defaults these are, does not by default.
struct LambOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double gamma_l = 0;
  double gamma_u = 10;
  double eps = 1e-6;
  double weight_decay = 0;
  bool bias_correction = false;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("gamma_l", gamma_l);
    v.Field("gamma_u", gamma_u);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("bias_correction", bias_correction);
  }
};

// Options of Lars: LARS (You et al., 2017), momentum with a rate for each parameter:
//   rate = lr coefficient |param| / (|grad| + weight_decay |param|)
// or lr where |param| < eps; a denominator below eps grows by eps. Then
//   v = momentum v + rate (grad + weight_decay param)       param -= v
// where v is momentum_buffer. Formula and defaults are NNabla's.
struct LarsOptions {
  double lr = 1e-3;
  double momentum = 0.9;
  double coefficient = 0.001;
  double eps = 1e-6;
  double weight_decay = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("coefficient", coefficient);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
  }
};

// The rate of both depends on the lengths of a parameter and its step. State: exp_avg and
// exp_avg_sq; momentum_buffer.
using Lamb = OptimizerByRule<struct LambRule, LambOptions>;
using Lars = OptimizerByRule<struct LarsRule, LarsOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_TRUST_RATIO_H_

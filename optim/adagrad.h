#ifndef FIRN_OPTIM_ADAGRAD_H_
#define FIRN_OPTIM_ADAGRAD_H_

#include "firn/optim/rule_optimizer.h"

namespace firn::optim {

// Options of Adagrad: Adagrad (Duchi et al., 2011) as torch.optim.Adagrad. With
// t = step + 1:
//   g = grad + weight_decay param
//   sum += g^2       (initial_accumulator_value at first)
//   param -= lr / (1 + (t - 1) lr_decay) g / (sqrt(sum) + eps)
struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;  // NNabla's is 1e-8
  template <class V>
  void Visit(V& v) {
    v.Field("lr_decay", lr_decay);
    v.Field("weight_decay", weight_decay);
    v.Field("initial_accumulator_value", initial_accumulator_value);
    v.Field("eps", eps);
  }
};

// Options of Adadelta: Adadelta (Zeiler, 2012) as torch.optim.Adadelta:
//   g = grad + weight_decay param       square_avg = rho square_avg + (1 - rho) g^2
//   d = sqrt(acc_delta + eps) / sqrt(square_avg + eps) g
//   acc_delta = rho acc_delta + (1 - rho) d^2       param -= lr d
struct AdadeltaOptions {
  double lr = 1.0;
  double rho = 0.9;  // NNabla's decay is 0.95
  double eps = 1e-6;
  double weight_decay = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("rho", rho);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
  }
};

// State: sum; square_avg and acc_delta.
using Adagrad = OptimizerByRule<struct AdagradRule, AdagradOptions>;
using Adadelta = OptimizerByRule<struct AdadeltaRule, AdadeltaOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAGRAD_H_

#ifndef FIRN_OPTIM_RMSPROP_H_
#define FIRN_OPTIM_RMSPROP_H_

#include "firn/optim/rule_optimizer.h"

namespace firn::optim {

// Options of Rmsprop: RMSprop (Hinton, 2012; centred: Graves, 2013) as torch.optim.RMSprop:
//   g = grad + weight_decay param
//   square_avg = alpha square_avg + (1 - alpha) g^2     grad_avg = alpha grad_avg + (1 - alpha) g
//   d = g / (sqrt(square_avg - (centered ? grad_avg^2 : 0)) + eps)
//   momentum_buffer = momentum momentum_buffer + d
//   param -= lr (momentum > 0 ? momentum_buffer : d)
struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("momentum", momentum);
    v.Field("centered", centered);
  }
};

// Options of RmspropGraves: RMSprop as Graves (2013) has it, with NNabla's defaults:
//   square_avg = alpha square_avg + (1 - alpha) grad^2
//   grad_avg = alpha grad_avg + (1 - alpha) grad
//   momentum_buffer = momentum momentum_buffer + lr grad / sqrt(square_avg - grad_avg^2 + eps)
//   param -= momentum_buffer
struct RmspropGravesOptions {
  double lr = 1e-4;
  double alpha = 0.95;
  double momentum = 0.9;
  double eps = 1e-4;
  double weight_decay = 0;  // added to the gradient
  template <class V>
  void Visit(V& v) {
    v.Field("alpha", alpha);
    v.Field("momentum", momentum);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
  }
};

// State: square_avg, with centered grad_avg, with momentum momentum_buffer; Graves' has them all.
using Rmsprop = OptimizerByRule<struct RmspropRule, RmspropOptions>;
using RmspropGraves = OptimizerByRule<struct RmspropGravesRule, RmspropGravesOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_RMSPROP_H_

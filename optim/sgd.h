#ifndef FIRN_OPTIM_SGD_H_
#define FIRN_OPTIM_SGD_H_

#include "firn/optim/rule_optimizer.h"
#include "firn/optim/semantics.h"

namespace firn::optim {

// Options of Sgd: stochastic gradient descent as torch.optim.SGD does it,
//   g = grad + weight_decay param
//   v = momentum v + (1 - dampening) g        (g itself in the first step)
//   param -= lr (nesterov ? g + momentum v : v)
// where v is momentum_buffer. Without momentum it is g. NNabla's velocity has the rate in it,
// v = momentum v + lr g and param -= v, as lr_in_velocity does alone.
struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool lr_in_velocity = false;
  Semantics semantics = Semantics::kPyTorch;
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("dampening", dampening);
    v.Field("weight_decay", weight_decay);
    v.Field("nesterov", nesterov);
    v.Field("lr_in_velocity", lr_in_velocity);
    v.Field("semantics", semantics);
  }
};

// Options of SgdW: SGDW (Loshchilov & Hutter, 2019) with NNabla's defaults:
//   v = momentum v + lr grad       param -= v + lr / base_lr weight_decay param
// where v is momentum_buffer.
struct SgdWOptions {
  double lr = 1e-3;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  double base_lr = 0;  // 0: the lr that the group begins with
  template <class V>
  void Visit(V& v) {
    v.Field("momentum", momentum);
    v.Field("weight_decay", weight_decay);
    v.Field("base_lr", base_lr);
  }
  // Called with the options of a new group.
  void Complete() {
    if (base_lr == 0) base_lr = lr;
  }
};

// State: momentum_buffer, with momentum only.
using Sgd = OptimizerByRule<struct SgdRule, SgdOptions>;
using SgdW = OptimizerByRule<struct SgdWRule, SgdWOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SGD_H_

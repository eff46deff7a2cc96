#ifndef FIRN_OPTIM_SIGN_STEPS_H_
#define FIRN_OPTIM_SIGN_STEPS_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/sign_steps.h"

namespace firn::inner {
struct LionRule;
struct RpropRule;
}  // namespace firn::inner

namespace firn::optim {

// Lion, and Rprop as torch.optim.Rprop; options and formulas in tensor/ops/optimizer/sign_steps.h.
// State: exp_avg; prev and step_size.
using LionOptions = inner::LionOptions;
using RpropOptions = inner::RpropOptions;
using Lion = OptimizerByRule<inner::LionRule, LionOptions>;
using Rprop = OptimizerByRule<inner::RpropRule, RpropOptions>;

extern template class OptimizerByRule<inner::LionRule, LionOptions>;
extern template class OptimizerByRule<inner::RpropRule, RpropOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SIGN_STEPS_H_

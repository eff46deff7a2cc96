// Lion and Rprop are rules: see sign_steps_rule.h.

#include "firn/optim/rule_page.h"
#include "firn/optim/sign_steps_rule.h"

namespace firn::optim {

FIRN_REGISTER_OP(lion_step) {
  return cpu::OptimizerOp<LionRule>(
      "One step of Lion for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(rprop_step) {
  return cpu::OptimizerOp<RpropRule>(
      "One step of Rprop for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_RULE(lion, LionRule);
FIRN_REGISTER_RULE(rprop, RpropRule);

}  // namespace firn::optim

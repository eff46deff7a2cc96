// LAMB and LARS are rules: see trust_ratio_rule.h.

#include "firn/optim/rule_page.h"
#include "firn/optim/trust_ratio_rule.h"

namespace firn::optim {

FIRN_REGISTER_OP(lamb_step) {
  return cpu::OptimizerOp<LambRule>(
      "One step of LAMB for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(lars_step) {
  return cpu::OptimizerOp<LarsRule>(
      "One step of LARS for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_RULE(lamb, LambRule);
FIRN_REGISTER_RULE(lars, LarsRule);

}  // namespace firn::optim

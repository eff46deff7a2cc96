// Adagrad and Adadelta are rules: see adagrad_rule.h.

#include "firn/optim/adagrad_rule.h"
#include "firn/optim/rule_page.h"

namespace firn::optim {

FIRN_REGISTER_OP(adagrad_step) {
  return cpu::OptimizerOp<AdagradRule>(
      "One step of Adagrad for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(adadelta_step) {
  return cpu::OptimizerOp<AdadeltaRule>(
      "One step of Adadelta for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_RULE(adagrad, AdagradRule);
FIRN_REGISTER_RULE(adadelta, AdadeltaRule);

}  // namespace firn::optim

// Sgd and SgdW are rules of one operation: see sgd_rule.h.

#include "firn/optim/rule_page.h"
#include "firn/optim/sgd_rule.h"

namespace firn::optim {

FIRN_REGISTER_OP(sgd_step) {
  return cpu::OptimizerOp<SgdRule>(
      "One step of gradient descent with momentum for all parameters, in place. Not "
      "differentiable.");
}

FIRN_REGISTER_RULE(sgd, SgdRule);
FIRN_REGISTER_RULE(sgdw, SgdWRule);

}  // namespace firn::optim

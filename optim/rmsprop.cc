// RMSprop and Graves' are rules of one operation: see rmsprop_rule.h.

#include "firn/optim/rmsprop_rule.h"
#include "firn/optim/rule_page.h"

namespace firn::optim {

FIRN_REGISTER_OP(rmsprop_step) {
  return cpu::OptimizerOp<RmspropRule>(
      "One step of RMSprop for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_RULE(rmsprop, RmspropRule);
FIRN_REGISTER_RULE(rmsprop_graves, RmspropGravesRule);

}  // namespace firn::optim

// Adam and AdamW are rules of one operation: see adam_rule.h.

#include "firn/optim/adam_rule.h"
#include "firn/optim/rule_page.h"

namespace firn::optim {

FIRN_REGISTER_OP(adam_step) {
  return cpu::OptimizerOp<AdamRule>(
      "One step of Adam, AdamW or AMSGrad for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_RULE(adam, AdamRule);
FIRN_REGISTER_RULE(adamw, AdamWRule);

}  // namespace firn::optim

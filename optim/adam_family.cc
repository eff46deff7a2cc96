// Relatives of Adam, which are rules: see adam_family_rule.h.

#include "firn/optim/adam_family_rule.h"
#include "firn/optim/rule_page.h"

namespace firn::optim {

FIRN_REGISTER_OP(adamax_step) {
  return cpu::OptimizerOp<AdamaxRule>(
      "One step of Adamax for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(nadam_step) {
  return cpu::OptimizerOp<NadamRule>(
      "One step of Nadam for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(radam_step) {
  return cpu::OptimizerOp<RadamRule>(
      "One step of rectified Adam for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(adabelief_step) {
  return cpu::OptimizerOp<AdabeliefRule>(
      "One step of AdaBelief for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_OP(adabound_step) {
  return cpu::OptimizerOp<AdaboundRule>(
      "One step of AdaBound for all parameters, in place. Not differentiable.");
}

FIRN_REGISTER_RULE(adamax, AdamaxRule);
FIRN_REGISTER_RULE(nadam, NadamRule);
FIRN_REGISTER_RULE(radam, RadamRule);
FIRN_REGISTER_RULE(adabelief, AdabeliefRule);
FIRN_REGISTER_RULE(adabound, AdaboundRule);

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/sign_steps_fn.h.

#include "firn/optim/sign_steps.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/sign_steps_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::LionRule, LionOptions>;
template class OptimizerByRule<inner::RpropRule, RpropOptions>;

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/rmsprop_fn.h.

#include "optim/rmsprop.h"

#include "optim/by_rule_impl.h"
#include "tensor/ops/optimizer/rmsprop_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::RmspropRule, RmspropOptions>;
template class OptimizerByRule<inner::RmspropGravesRule, RmspropGravesOptions>;

}  // namespace firn::optim

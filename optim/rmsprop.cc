// Each is a rule: tensor/ops/optimizer/rmsprop_fn.h.

#include "firn/optim/rmsprop.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/rmsprop_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::RmspropRule, RmspropOptions>;
template class OptimizerByRule<inner::RmspropGravesRule, RmspropGravesOptions>;

}  // namespace firn::optim

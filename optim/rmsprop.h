#ifndef FIRN_OPTIM_RMSPROP_H_
#define FIRN_OPTIM_RMSPROP_H_

#include "optim/by_rule.h"
#include "tensor/ops/optimizer/rmsprop.h"

namespace firn::inner {
struct RmsPropRule;
}  // namespace firn::inner

namespace firn::optim {

// RMSprop, as torch.optim.RMSprop; options and formulas in tensor/ops/optimizer/rmsprop.h. State:
// square_avg, with centered grad_avg, with momentum momentum_buffer.
using RmsPropOptions = inner::RmsPropOptions;
using RmsProp = OptimizerByRule<inner::RmsPropRule, RmsPropOptions>;

extern template class OptimizerByRule<inner::RmsPropRule, RmsPropOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_RMSPROP_H_

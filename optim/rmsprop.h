#ifndef FIRN_OPTIM_RMSPROP_H_
#define FIRN_OPTIM_RMSPROP_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/rmsprop.h"

namespace firn::inner {
struct RmspropRule;
struct RmspropGravesRule;
}  // namespace firn::inner

namespace firn::optim {

// RMSprop, as torch.optim.RMSprop, and Graves'; options and formulas in
// tensor/ops/optimizer/rmsprop.h. State: square_avg, with centered grad_avg, with momentum
// momentum_buffer; Graves' has them all.
using RmspropOptions = inner::RmspropOptions;
using RmspropGravesOptions = inner::RmspropGravesOptions;
using Rmsprop = OptimizerByRule<inner::RmspropRule, RmspropOptions>;
using RmspropGraves = OptimizerByRule<inner::RmspropGravesRule, RmspropGravesOptions>;

extern template class OptimizerByRule<inner::RmspropRule, RmspropOptions>;
extern template class OptimizerByRule<inner::RmspropGravesRule, RmspropGravesOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_RMSPROP_H_

#ifndef FIRN_OPTIM_TRUST_RATIO_H_
#define FIRN_OPTIM_TRUST_RATIO_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/trust_ratio.h"

namespace firn::inner {
struct LambRule;
struct LarsRule;
}  // namespace firn::inner

namespace firn::optim {

// LAMB and LARS, whose rate depends on the lengths of a parameter and its step; options and
// formulas in tensor/ops/optimizer/trust_ratio.h. State: exp_avg and exp_avg_sq; momentum_buffer.
using LambOptions = inner::LambOptions;
using LarsOptions = inner::LarsOptions;
using Lamb = OptimizerByRule<inner::LambRule, LambOptions>;
using Lars = OptimizerByRule<inner::LarsRule, LarsOptions>;

extern template class OptimizerByRule<inner::LambRule, LambOptions>;
extern template class OptimizerByRule<inner::LarsRule, LarsOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_TRUST_RATIO_H_

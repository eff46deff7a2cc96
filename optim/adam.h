#ifndef FIRN_OPTIM_ADAM_H_
#define FIRN_OPTIM_ADAM_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/adam.h"

namespace firn::inner {
struct AdamRule;
struct AdamWRule;
}  // namespace firn::inner

namespace firn::optim {

// Adam adds weight_decay * parameter to the gradient; AdamW's decay, 1e-2 by default, shrinks
// parameters directly, by lr * weight_decay * parameter.
using AdamOptions = inner::AdamOptionsOf<false>;
using AdamWOptions = inner::AdamOptionsOf<true>;

// Adam and AdamW, as torch.optim's; options and formulas in tensor/ops/optimizer/adam.h. State:
// exp_avg, exp_avg_sq and, with amsgrad, max_exp_avg_sq.
using Adam = OptimizerByRule<inner::AdamRule, AdamOptions>;
using AdamW = OptimizerByRule<inner::AdamWRule, AdamWOptions>;

extern template class OptimizerByRule<inner::AdamRule, AdamOptions>;
extern template class OptimizerByRule<inner::AdamWRule, AdamWOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_H_

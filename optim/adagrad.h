#ifndef FIRN_OPTIM_ADAGRAD_H_
#define FIRN_OPTIM_ADAGRAD_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/adagrad.h"

namespace firn::inner {
struct AdagradRule;
struct AdadeltaRule;
}  // namespace firn::inner

namespace firn::optim {

// Adagrad and Adadelta, as torch.optim's; options and formulas in tensor/ops/optimizer/adagrad.h.
// State: sum; square_avg and acc_delta.
using AdagradOptions = inner::AdagradOptions;
using AdadeltaOptions = inner::AdadeltaOptions;
using Adagrad = OptimizerByRule<inner::AdagradRule, AdagradOptions>;
using Adadelta = OptimizerByRule<inner::AdadeltaRule, AdadeltaOptions>;

extern template class OptimizerByRule<inner::AdagradRule, AdagradOptions>;
extern template class OptimizerByRule<inner::AdadeltaRule, AdadeltaOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAGRAD_H_

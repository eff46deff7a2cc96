#ifndef FIRN_OPTIM_SGD_H_
#define FIRN_OPTIM_SGD_H_

#include "optim/by_rule.h"
#include "tensor/ops/optimizer/sgd.h"

namespace firn::inner {
struct SgdRule;
}  // namespace firn::inner

namespace firn::optim {

// Stochastic gradient descent with momentum, as torch.optim.SGD; options and formulas in
// tensor/ops/optimizer/sgd.h. State: momentum_buffer, with momentum only.
using SgdOptions = inner::SgdOptions;
using Sgd = OptimizerByRule<inner::SgdRule, SgdOptions>;

extern template class OptimizerByRule<inner::SgdRule, SgdOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SGD_H_

#ifndef FIRN_OPTIM_SGD_H_
#define FIRN_OPTIM_SGD_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/sgd.h"

namespace firn::inner {
struct SgdRule;
struct SgdWRule;
}  // namespace firn::inner

namespace firn::optim {

// Stochastic gradient descent with momentum, as torch.optim.SGD, and SGDW; options and formulas in
// tensor/ops/optimizer/sgd.h. State: momentum_buffer, with momentum only.
using SgdOptions = inner::SgdOptions;
using SgdWOptions = inner::SgdWOptions;
using Sgd = OptimizerByRule<inner::SgdRule, SgdOptions>;
using SgdW = OptimizerByRule<inner::SgdWRule, SgdWOptions>;

extern template class OptimizerByRule<inner::SgdRule, SgdOptions>;
extern template class OptimizerByRule<inner::SgdWRule, SgdWOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_SGD_H_

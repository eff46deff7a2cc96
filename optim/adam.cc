// Adam and AdamW are rules: tensor/ops/optimizer/adam_fn.h.

#include "firn/optim/adam.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/adam_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::AdamRule, AdamOptions>;
template class OptimizerByRule<inner::AdamWRule, AdamWOptions>;

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/adam_family_fn.h.

#include "firn/optim/adam_family.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/adam_family_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::AdamaxRule, AdamaxOptions>;
template class OptimizerByRule<inner::NadamRule, NadamOptions>;
template class OptimizerByRule<inner::RadamRule, RadamOptions>;
template class OptimizerByRule<inner::AdabeliefRule, AdabeliefOptions>;
template class OptimizerByRule<inner::AdaboundRule, AdaboundOptions>;

}  // namespace firn::optim

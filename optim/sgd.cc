// Each is a rule: tensor/ops/optimizer/sgd_fn.h.

#include "optim/sgd.h"

#include "optim/by_rule_impl.h"
#include "tensor/ops/optimizer/sgd_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::SgdRule, SgdOptions>;
template class OptimizerByRule<inner::SgdWRule, SgdWOptions>;

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/sgd_fn.h.

#include "firn/optim/sgd.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/sgd_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::SgdRule, SgdOptions>;
template class OptimizerByRule<inner::SgdWRule, SgdWOptions>;

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/adagrad_fn.h.

#include "firn/optim/adagrad.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/adagrad_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::AdagradRule, AdagradOptions>;
template class OptimizerByRule<inner::AdadeltaRule, AdadeltaOptions>;

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/adagrad_fn.h.

#include "optim/adagrad.h"

#include "optim/by_rule_impl.h"
#include "tensor/ops/optimizer/adagrad_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::AdagradRule, AdagradOptions>;
template class OptimizerByRule<inner::AdadeltaRule, AdadeltaOptions>;

}  // namespace firn::optim

// Each is a rule: tensor/ops/optimizer/trust_ratio_fn.h.

#include "firn/optim/trust_ratio.h"

#include "firn/optim/by_rule_impl.h"
#include "firn/tensor/ops/optimizer/trust_ratio_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::LambRule, LambOptions>;
template class OptimizerByRule<inner::LarsRule, LarsOptions>;

}  // namespace firn::optim

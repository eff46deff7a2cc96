// Each is a rule: tensor/ops/optimizer/trust_ratio_fn.h.

#include "optim/trust_ratio.h"

#include "optim/by_rule_impl.h"
#include "tensor/ops/optimizer/trust_ratio_fn.h"

namespace firn::optim {

template class OptimizerByRule<inner::LambRule, LambOptions>;
template class OptimizerByRule<inner::LarsRule, LarsOptions>;

}  // namespace firn::optim

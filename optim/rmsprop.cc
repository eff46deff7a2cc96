// RmsProp is a rule: tensor/ops/optimizer/rmsprop_fn.h.

#include "optim/rmsprop.h"

#include "optim/by_rule_impl.h"
#include "tensor/ops/optimizer/rmsprop_fn.h"

template class firn::optim::OptimizerByRule<firn::inner::RmsPropRule, firn::optim::RmsPropOptions>;

#ifndef FIRN_OPTIM_ADAM_FAMILY_H_
#define FIRN_OPTIM_ADAM_FAMILY_H_

#include "firn/optim/by_rule.h"
#include "firn/tensor/ops/optimizer/adam_family.h"

namespace firn::inner {
struct AdamaxRule;
struct NadamRule;
struct RadamRule;
struct AdabeliefRule;
struct AdaboundRule;
}  // namespace firn::inner

namespace firn::optim {

// Relatives of Adam; options and formulas in tensor/ops/optimizer/adam_family.h. State: exp_avg and
// exp_inf (Adamax), exp_avg_var (Adabelief) or exp_avg_sq; max_exp_avg_var with amsgrad,
// max_exp_avg_sq with amsbound.
using AdamaxOptions = inner::AdamaxOptions;
using NadamOptions = inner::NadamOptions;
using RadamOptions = inner::RadamOptions;
using AdabeliefOptions = inner::AdabeliefOptions;
using AdaboundOptions = inner::AdaboundOptions;
using Adamax = OptimizerByRule<inner::AdamaxRule, AdamaxOptions>;
using Nadam = OptimizerByRule<inner::NadamRule, NadamOptions>;
using Radam = OptimizerByRule<inner::RadamRule, RadamOptions>;
using Adabelief = OptimizerByRule<inner::AdabeliefRule, AdabeliefOptions>;
using Adabound = OptimizerByRule<inner::AdaboundRule, AdaboundOptions>;

extern template class OptimizerByRule<inner::AdamaxRule, AdamaxOptions>;
extern template class OptimizerByRule<inner::NadamRule, NadamOptions>;
extern template class OptimizerByRule<inner::RadamRule, RadamOptions>;
extern template class OptimizerByRule<inner::AdabeliefRule, AdabeliefOptions>;
extern template class OptimizerByRule<inner::AdaboundRule, AdaboundOptions>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_FAMILY_H_

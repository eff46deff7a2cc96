#ifndef FIRN_OPTIM_RULE_PAGE_H_
#define FIRN_OPTIM_RULE_PAGE_H_

// The parts of a page of optimizers that are rules (tensor/kernels/optimizer_rule.h): a rule's
// operation, and its class with the members that rule_optimizer.h declares. Options are checked,
// states are named and gathered by the rule; the operation does the work.
//
//   FIRN_REGISTER_OP(rmsprop_step) { return cpu::OptimizerOp<RmspropRule>("One step of ..."); }
//   FIRN_REGISTER_RULE(rmsprop, RmspropRule);

#include <string>
#include <vector>

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/optim/registry.h"
#include "firn/optim/rule_optimizer.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/kernels/optimizer_rule.h"

namespace firn::optim {

template <class Rule, class OptionsType>
const char* OptimizerByRule<Rule, OptionsType>::name() const {
  return Rule::kName;
}

template <class Rule, class OptionsType>
void OptimizerByRule<Rule, OptionsType>::Check(const OptionsType& o) const {
  RaiseIfError(Rule::Check(StepAttrsOf<Rule>(o)), Rule::kName);
}

template <class Rule, class OptionsType>
bool OptimizerByRule<Rule, OptionsType>::ElementByElement() const {
  return !HasSums<Rule>;
}

template <class Rule, class OptionsType>
std::vector<std::string> OptimizerByRule<Rule, OptionsType>::state_names(size_t group) const {
  const auto attrs = StepAttrsOf<Rule>(this->options(group));
  std::vector<std::string> names;
  for (size_t s = 0; s < StepInputs<Rule>::kStates; ++s) {
    if (HasState<Rule>(attrs, s)) names.push_back(Rule::kState[s].name);
  }
  return names;
}

template <class Rule, class OptionsType>
void OptimizerByRule<Rule, OptionsType>::Update(size_t group, const Tensor& lr, const Tensor& skip,
                                                absl::Span<Slot* const> slots) {
  const auto attrs = StepAttrsOf<Rule>(this->options(group));
  const Tensor none;
  std::vector<TensorRef> in = {lr, skip};
  in.reserve(kFirstParam + slots.size() * StepInputs<Rule>::kCycle);
  for (const Slot* slot : slots) {
    in.push_back(slot->param);
    in.push_back(slot->param.grad());
    for (size_t s = 0, at = 0; s < StepInputs<Rule>::kStates; ++s) {
      in.push_back(HasState<Rule>(attrs, s) ? slot->state[at++] : none);
    }
    in.push_back(slot->step);
  }
  Apply(TheOp<Rule::kOp>(), in, attrs);
}

}  // namespace firn::optim

// Registers an optimizer under the name `name`, and defines all members of its class. In namespace
// firn::optim.
#define FIRN_REGISTER_RULE(name, Rule)                 \
  template class OptimizerByRule<Rule, Rule::Options>; \
  FIRN_REGISTER_OPTIMIZER(name, OptimizerByRule<Rule, Rule::Options>)

#endif  // FIRN_OPTIM_RULE_PAGE_H_

#ifndef FIRN_OPTIM_BY_RULE_H_
#define FIRN_OPTIM_BY_RULE_H_

#include <string>
#include <vector>

#include "firn/optim/optimizer.h"

namespace firn::optim {

// An optimizer that is all said by a rule (tensor/kernels/optimizer_rule.h) with an operation of
// its own. Members are defined in by_rule_impl.h, which the one file that knows the rule includes.
template <class Rule, class OptionsType>
class OptimizerByRule final : public OptimizerOf<OptionsType> {
 public:
  explicit OptimizerByRule(const ParameterList& parameters, const OptionsType& options = {}) {
    this->AddGroup(parameters, options);
  }

 protected:
  using Slot = Optimizer::Slot;
  const char* name() const override;
  std::vector<std::string> state_names(size_t group) const override;
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
  void Check(const OptionsType& options) const override;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_BY_RULE_H_

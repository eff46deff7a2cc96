#ifndef FIRN_OPTIM_RULE_OPTIMIZER_H_
#define FIRN_OPTIM_RULE_OPTIMIZER_H_

#include <string>
#include <vector>

#include "firn/optim/optimizer.h"

namespace firn::optim {

// An optimizer that a rule (tensor/kernels/optimizer_rule.h) with an operation of its own defines
// completely. Its members are defined in rule_page.h and made by FIRN_REGISTER_RULE, in the one
// source that knows the rule.
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
  bool ElementByElement() const override;
};

}  // namespace firn::optim

#endif  // FIRN_OPTIM_RULE_OPTIMIZER_H_

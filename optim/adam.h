#ifndef FIRN_OPTIM_ADAM_H_
#define FIRN_OPTIM_ADAM_H_

#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace firn::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  // added to the gradient: weight_decay * parameter
  bool amsgrad = false;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("amsgrad", amsgrad);
  }
};

// As AdamOptions, with the decay that shrinks parameters directly: lr * weight_decay * parameter.
struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  template <class V>
  void Visit(V& v) {
    v.Field("beta1", beta1);
    v.Field("beta2", beta2);
    v.Field("eps", eps);
    v.Field("weight_decay", weight_decay);
    v.Field("amsgrad", amsgrad);
  }
};

// Adam and AdamW, as torch.optim's; formulas in tensor/ops/optimizer/adam.h. State: exp_avg,
// exp_avg_sq and, with amsgrad, max_exp_avg_sq.
template <class OptionsType, bool kDecoupled>
class AdamBase final : public OptimizerOf<OptionsType> {
 public:
  explicit AdamBase(const ParameterList& parameters, const OptionsType& options = {}) {
    this->AddGroup(parameters, options);
  }

 protected:
  using Slot = Optimizer::Slot;
  const char* name() const override { return kDecoupled ? "AdamW" : "Adam"; }
  std::vector<std::string> state_names(size_t group) const override;
  void Update(size_t group, const Tensor& lr, const Tensor& skip,
              absl::Span<Slot* const> slots) override;
  void Check(const OptionsType& options) const override;
};

using Adam = AdamBase<AdamOptions, false>;
using AdamW = AdamBase<AdamWOptions, true>;

extern template class AdamBase<AdamOptions, false>;
extern template class AdamBase<AdamWOptions, true>;

}  // namespace firn::optim

#endif  // FIRN_OPTIM_ADAM_H_

// Adam and AdamW: options checked here, work done by the operation adam_step.

#include "optim/adam.h"

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/optimizer/adam.h"

namespace firn::optim {

template <class OptionsType, bool kDecoupled>
void AdamBase<OptionsType, kDecoupled>::Check(const OptionsType& o) const {
  if (!(o.lr >= 0 && o.eps >= 0 && o.weight_decay >= 0)) {
    RaiseStatus(InvalidArgument("lr ", o.lr, ", eps ", o.eps, " and weight_decay ", o.weight_decay,
                                " must not be negative"),
                name());
  }
  if (!(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1)) {
    RaiseStatus(InvalidArgument("beta1 ", o.beta1, " and beta2 ", o.beta2, " must be in [0, 1)"),
                name());
  }
}

template <class OptionsType, bool kDecoupled>
std::vector<std::string> AdamBase<OptionsType, kDecoupled>::state_names(size_t group) const {
  std::vector<std::string> names = {"exp_avg", "exp_avg_sq"};
  if (this->options(group).amsgrad) names.push_back("max_exp_avg_sq");
  return names;
}

template <class OptionsType, bool kDecoupled>
void AdamBase<OptionsType, kDecoupled>::Update(size_t group, const Tensor& lr, const Tensor& skip,
                                               absl::Span<Slot* const> slots) {
  const OptionsType& o = this->options(group);
  const Tensor none;
  std::vector<AdamStepSlot> tensors;
  tensors.reserve(slots.size());
  for (const Slot* s : slots) {
    tensors.push_back({s->param, s->param.grad(), s->state[0], s->state[1],
                       o.amsgrad ? s->state[2] : none, s->step});
  }
  AdamStep(tensors, lr,
           {.beta1 = o.beta1,
            .beta2 = o.beta2,
            .eps = o.eps,
            .weight_decay = o.weight_decay,
            .decoupled = kDecoupled},
           skip);
}

template class AdamBase<AdamOptions, false>;
template class AdamBase<AdamWOptions, true>;

}  // namespace firn::optim

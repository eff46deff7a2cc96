// Sgd: options checked here, work done by the operation sgd_step.

#include "optim/sgd.h"

#include <cmath>

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/optimizer/sgd.h"

namespace firn::optim {

Sgd::Sgd(const ParameterList& parameters, const SgdOptions& options) {
  AddGroup(parameters, options);
}

void Sgd::Check(const SgdOptions& o) const {
  if (!(o.lr >= 0 && o.momentum >= 0 && o.weight_decay >= 0)) {
    RaiseStatus(InvalidArgument("lr ", o.lr, ", momentum ", o.momentum, " and weight_decay ",
                                o.weight_decay, " must not be negative"),
                "Sgd");
  }
  if (std::isnan(o.dampening)) RaiseStatus(InvalidArgument("dampening is NaN"), "Sgd");
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0)) {
    RaiseStatus(InvalidArgument("nesterov needs a positive momentum and no dampening, got ",
                                o.momentum, " and ", o.dampening),
                "Sgd");
  }
}

std::vector<std::string> Sgd::state_names(size_t group) const {
  if (options(group).momentum == 0) return {};
  return {"momentum_buffer"};
}

void Sgd::Update(size_t group, const Tensor& lr, const Tensor& skip,
                 absl::Span<Slot* const> slots) {
  const SgdOptions& o = options(group);
  const Tensor none;
  std::vector<SgdStepSlot> tensors;
  tensors.reserve(slots.size());
  for (const Slot* s : slots) {
    tensors.push_back({s->param, s->param.grad(), s->state.empty() ? none : s->state[0], s->step});
  }
  SgdStep(tensors, lr,
          {.momentum = o.momentum,
           .dampening = o.dampening,
           .weight_decay = o.weight_decay,
           .nesterov = o.nesterov},
          skip);
}

}  // namespace firn::optim

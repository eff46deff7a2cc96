#include "tools/firn/train/muon.h"

#include <cmath>

#include "firn/device/status_macros.h"
#include "firn/optim/unless.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/state_dict.h"

namespace firn::cli {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8;

std::vector<NamedTensor> Matrices(const optim::ParameterList& parameters, bool matrices) {
  std::vector<NamedTensor> found;
  for (const NamedTensor& p : parameters.named()) {
    if ((p.tensor.rank() == 2) == matrices) found.push_back(p);
  }
  if (matrices && found.empty()) {
    RaiseStatus(InvalidArgument("the network has no matrices, which are what Muon moves"), "muon");
  }
  return found;
}

}  // namespace

MuonAndAdamW::MuonAndAdamW(const optim::ParameterList& parameters,
                           const optim::MuonOptions& options)
    : Muon(Matrices(parameters, true), options) {
  const std::vector<NamedTensor> others = Matrices(parameters, false);
  if (!others.empty()) AddGroup(others, options);
}

std::vector<std::string> MuonAndAdamW::state_names(size_t group) const {
  if (group == 0) return Muon::state_names(group);
  return {"exp_avg", "exp_avg_sq"};
}

void MuonAndAdamW::Update(size_t group, const Tensor& lr, const Tensor& skip,
                          absl::Span<Slot* const> slots) {
  if (group == 0) return Muon::Update(group, lr, skip, slots);
  for (Slot* slot : slots) {
    const Tensor &x = slot->param, &mean = slot->state[0], &square = slot->state[1];
    const DType dtype = mean.dtype();
    const Tensor grad = x.grad().To(dtype), rate = lr.To(dtype);
    const Tensor step = slot->step.To(DType::kF64) + 1;  // 1 - beta^step has few digits in f32
    const Tensor correction1 = (1 - Exp(step * std::log(kBeta1))).To(dtype);
    const Tensor correction2 = (1 - Exp(step * std::log(kBeta2))).To(dtype);
    const Tensor m = Lerp(mean, grad, 1 - kBeta1), v = Lerp(square, grad * grad, 1 - kBeta2);
    const Tensor kept = x.To(dtype) * (1 - rate * options(group).weight_decay);
    optim::AssignUnless(skip, x, kept - rate * (m / correction1) / (Sqrt(v / correction2) + kEps));
    optim::AssignUnless(skip, mean, m);
    optim::AssignUnless(skip, square, v);
    optim::CountUnless(skip, slot->step);
  }
}

}  // namespace firn::cli

// A gradient times 0 is 0, or NaN when it is infinite or NaN: the sum of all of these is the one
// number that is read.

#include "optim/loss_scaler.h"

#include <cmath>
#include <utility>
#include <vector>

#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/ops/add.h"
#include "tensor/ops/assign.h"
#include "tensor/ops/cast.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/sum.h"

namespace firn::optim {
namespace {

bool AllFinite(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> sums;  // one a device
  for (const Tensor& p : parameters) {
    const Tensor& grad = p.grad();
    if (!grad.defined()) continue;
    const Tensor part = Cast(Sum(Mul(grad, 0.0)), DType::kF32);
    bool added = false;
    for (Tensor& sum : sums) {
      if (sum.device() != part.device()) continue;
      sum = Add(sum, part);
      added = true;
    }
    if (!added) sums.push_back(part);
  }
  for (const Tensor& sum : sums) {
    if (std::isnan(sum.Item())) return false;
  }
  return true;
}

}  // namespace

LossScaler::LossScaler(const LossScalerOptions& o) : options_(o), scale_(o.init_scale) {
  if (o.init_scale > 0 && std::isfinite(o.init_scale) && o.growth_factor > 1 &&
      o.backoff_factor > 0 && o.backoff_factor < 1 && o.growth_interval >= 1) {
    return;
  }
  RaiseStatus(
      InvalidArgument("init_scale ", o.init_scale, " (want > 0), growth_factor ", o.growth_factor,
                      " (want > 1), backoff_factor ", o.backoff_factor,
                      " (want 0 to 1), growth_interval ", o.growth_interval, " (want >= 1)"),
      "loss scaler");
}

Tensor LossScaler::Scale(const Tensor& loss) const { return Mul(loss, scale_); }

void LossScaler::Unscale(Optimizer& optimizer) {
  if (unscaled_.contains(&optimizer)) {
    RaiseStatus(FailedPrecondition("these gradients were divided by the scale before; call Update"
                                   " between steps"),
                "loss scaler");
  }
  const NoGradScope no_grad;
  for (const Tensor& p : optimizer.parameters()) {
    if (p.grad().defined()) Assign(p.grad(), Mul(p.grad(), 1 / scale_));
  }
  unscaled_.insert(&optimizer);
}

bool LossScaler::Step(Optimizer& optimizer) {
  if (!unscaled_.contains(&optimizer)) Unscale(optimizer);
  const NoGradScope no_grad;
  if (!AllFinite(optimizer.parameters())) {
    skipped_ = true;
    return false;
  }
  optimizer.Step();
  return true;
}

void LossScaler::Update() {
  unscaled_.clear();
  if (std::exchange(skipped_, false)) {
    scale_ *= options_.backoff_factor;
    good_steps_ = 0;
  } else if (++good_steps_ == options_.growth_interval) {
    const double grown = scale_ * options_.growth_factor;
    if (std::isfinite(static_cast<float>(grown))) scale_ = grown;
    good_steps_ = 0;
  }
}

}  // namespace firn::optim

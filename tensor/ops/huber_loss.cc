// huber_loss: composed of smooth_l1_loss, which differs by the factor delta.

#include "tensor/ops/huber_loss.h"

#include <cmath>

#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/mul.h"
#include "tensor/ops/smooth_l1_loss.h"

namespace firn {

Tensor HuberLoss(const Tensor& x, const Tensor& y, const HuberLossOptions& options) {
  const double delta = options.delta;
  if (!(delta > 0) || std::isinf(delta)) {
    RaiseStatus(InvalidArgument("delta must be above 0 and finite, got ", delta), "huber_loss");
  }
  const Tensor loss = SmoothL1Loss(x, y, {.reduction = options.reduction, .beta = delta});
  return delta == 1 ? loss : Mul(loss, delta);
}

}  // namespace firn

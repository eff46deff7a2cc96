// rmsprop_step: see rmsprop_fn.h.

#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/ops/optimizer/rmsprop_fn.h"

namespace firn {

FIRN_REGISTER_OP(rmsprop_step) {
  return cpu::OptimizerOp<RmspropRule>(
      "One step of RMSprop for all parameters, in place. Not differentiable.");
}

}  // namespace firn

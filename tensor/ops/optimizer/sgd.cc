// sgd_step: see sgd_fn.h.

#include "tensor/ops/optimizer/sgd.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/optimizer_step.h"
#include "tensor/ops/optimizer/sgd_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(sgd_step) {
  return cpu::OptimizerOp<SgdRule>(
      "One step of gradient descent with momentum for all parameters, in place. Not "
      "differentiable.");
}

}  // namespace

void inner::SgdStep(const Tensor& param, const Tensor& grad, const Tensor& momentum_buffer,
                    const Tensor& lr, const Tensor& step, const SgdStepAttrs& attrs) {
  Apply(TheOp<"sgd_step">(), {lr, Tensor(), param, grad, momentum_buffer, step}, attrs);
}

}  // namespace firn

// adam_step: see adam_fn.h.

#include "tensor/ops/optimizer/adam.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/optimizer_step.h"
#include "tensor/ops/optimizer/adam_fn.h"

namespace firn {
namespace {

FIRN_REGISTER_OP(adam_step) {
  return cpu::OptimizerOp<AdamRule>(
      "One step of Adam, AdamW or AMSGrad for all parameters, in place. Not differentiable.");
}

}  // namespace

void inner::AdamStep(const Tensor& param, const Tensor& grad, const Tensor& exp_avg,
                     const Tensor& exp_avg_sq, const Tensor& max_exp_avg_sq, const Tensor& step,
                     const Tensor& lr, const AdamStepAttrs& attrs) {
  Apply(TheOp<"adam_step">(),
        {lr, Tensor(), param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step}, attrs);
}

}  // namespace firn

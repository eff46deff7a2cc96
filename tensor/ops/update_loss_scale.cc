// update_loss_scale: a handful of numbers, which stay where they are so that nobody waits for them.

#include "tensor/ops/update_loss_scale.h"

#include "tensor/apply.h"
#include "tensor/op.h"
#include "tensor/ops/update_loss_scale_fn.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const UpdateLossScaleAttrs& a = c.attrs<UpdateLossScaleAttrs>();
  FIRN_RETURN_IF(!(a.growth_factor > 1 && a.backoff_factor > 0 && a.backoff_factor < 1 &&
                   a.growth_interval >= 1),
                 InvalidArgument("growth_factor ", a.growth_factor, " (want > 1), backoff_factor ",
                                 a.backoff_factor, " (want 0 to 1), growth_interval ",
                                 a.growth_interval, " (want >= 1)"));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  UpdateLossScaleFn{k.attrs<UpdateLossScaleAttrs>(), k.inout<float>(0), k.inout<int64_t>(1),
                    k.inout<bool>(2), k.in<bool>(3)}(0);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(update_loss_scale) {
  return {

      .name = "update_loss_scale",
      .doc = "The rule of dynamic loss scaling, in place. Not differentiable.",
      .inputs = {{.name = "scale", .dtypes = SetOf(DType::kF32), .max_rank = 0, .inout = true},
                 {.name = "good_steps", .dtypes = SetOf(DType::kI64), .max_rank = 0, .inout = true},
                 {.name = "skipped", .dtypes = SetOf(DType::kBool), .max_rank = 0, .inout = true},
                 {.name = "found", .dtypes = SetOf(DType::kBool), .max_rank = 0}},
      .attrs = AttrsOf<UpdateLossScaleAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

void inner::UpdateLossScale(const Tensor& scale, const Tensor& good_steps, const Tensor& skipped,
                            const Tensor& found, const UpdateLossScaleAttrs& attrs) {
  static const OpDef& op = Op("update_loss_scale");
  Apply(op, {scale, good_steps, skipped, found}, attrs);
}

}  // namespace firn

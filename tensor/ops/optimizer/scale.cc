// unscale_gradients: one pass that reads, checks and writes. A block of elements that has found an
// infinity or NaN sets a flag that all blocks share; it is read only after all are done.
// update_loss_scale: a handful of numbers, which stay on the device so that the host need not wait
// for them.

#include "firn/tensor/ops/optimizer/scale.h"

#include <atomic>

#include "firn/tensor/apply.h"
#include "firn/tensor/kernels/cpu/half.h"
#include "firn/tensor/kernels/cpu/optimizer_step.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/optimizer/scale_fn.h"

namespace firn {
namespace {

enum Input { kScale, kGrads };

absl::Status InferUnscaleGradients(InferContext& c) {
  c.set_out(0, DType::kBool, Shape());
  return absl::OkStatus();
}

template <class T>
bool Unscale(T* x, int64_t n, double factor) {
  using C = ComputeOf<T>;
  const C by = static_cast<C>(factor);
  int found = 0;
  cpu::MapElements(x, n, [&found, by](C v) {
    found |= IsNotFinite(v) ? 1 : 0;
    return v * by;
  });
  return found != 0;
}

absl::Status RunUnscaleGradients(KernelContext& k) {
  const double factor = 1 / cpu::ScalarOf(k, kScale);
  std::atomic<bool> found = false;
  cpu::TensorSeries(k, kGrads, 1).ForEachPiece([&](int i, int64_t begin, int64_t end) {
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      if (Unscale(k.inout<T>(i) + begin, end - begin, factor)) {
        found.store(true, std::memory_order_relaxed);
      }
    });
  });
  *k.out<bool>() = found;
  return absl::OkStatus();
}

FIRN_REGISTER_OP(unscale_gradients) {
  return {
      .doc =
          "Divides tensors by a scale in place and tells whether there was an infinity or NaN. Not "
          "differentiable.",
      .inputs = {{.name = "scale", .dtypes = kFloating, .max_rank = 0},
                 {.name = "grads", .dtypes = kFloating, .inout = true, .variadic = true}},
      .outputs = {{.name = "found"}},
      .infer = InferUnscaleGradients,
      .kernels = {{.name = "loop", .run = RunUnscaleGradients}},
  };
}

absl::Status InferUpdateLossScale(InferContext& c) {
  const UpdateLossScaleAttrs& a = c.attrs<UpdateLossScaleAttrs>();
  FIRN_RETURN_IF(
      !(a.growth_factor > 1 && a.backoff_factor > 0 && a.backoff_factor < 1 &&
        a.growth_interval >= 1 && a.min_scale >= 0),
      InvalidArgument("growth_factor ", a.growth_factor, " (want > 1), backoff_factor ",
                      a.backoff_factor, " (want 0 to 1), growth_interval ", a.growth_interval,
                      " (want >= 1), min_scale ", a.min_scale, " (want >= 0)"));
  return absl::OkStatus();
}

absl::Status RunUpdateLossScale(KernelContext& k) {
  UpdateLossScaleFn{k.attrs<UpdateLossScaleAttrs>(), k.inout<float>(0), k.inout<int64_t>(1),
                    k.inout<bool>(2), k.in<bool>(3)}(0);
  return absl::OkStatus();
}

FIRN_REGISTER_OP(update_loss_scale) {
  return {
      .doc = "The rule of dynamic loss scaling, in place. Not differentiable.",
      .inputs = {{.name = "scale", .dtypes = SetOf(DType::kF32), .max_rank = 0, .inout = true},
                 {.name = "good_steps", .dtypes = SetOf(DType::kI64), .max_rank = 0, .inout = true},
                 {.name = "skipped", .dtypes = SetOf(DType::kBool), .max_rank = 0, .inout = true},
                 {.name = "found", .dtypes = SetOf(DType::kBool), .max_rank = 0}},
      .attrs = AttrsOf<UpdateLossScaleAttrs>(),
      .infer = InferUpdateLossScale,
      .kernels = {{.name = "loop", .run = RunUpdateLossScale}},
  };
}

}  // namespace

Tensor inner::UnscaleGradients(const std::vector<Tensor>& grads, const Tensor& scale) {
  std::vector<TensorRef> in = {scale};
  in.insert(in.end(), grads.begin(), grads.end());
  return Apply1(TheOp<"unscale_gradients">(), in);
}

void inner::UpdateLossScale(const Tensor& scale, const Tensor& good_steps, const Tensor& skipped,
                            const Tensor& found, const UpdateLossScaleAttrs& attrs) {
  Apply(TheOp<"update_loss_scale">(), {scale, good_steps, skipped, found}, attrs);
}

}  // namespace firn

// clip_grad_value: one pass over the elements of all tensors.

#include "tensor/ops/clip_grad_value.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/elementwise.h"
#include "tensor/kernels/cpu/multi_tensor.h"
#include "tensor/op.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) {
  const double limit = c.attrs<ClipGradValueAttrs>().limit;
  FIRN_RETURN_IF(!(limit >= 0),
                 InvalidArgument("limit is ", limit, " (want a number that is not negative)"));
  return absl::OkStatus();
}

absl::Status Run(KernelContext& k) {
  const double limit = k.attrs<ClipGradValueAttrs>().limit;
  cpu::TensorRow(k, 0, 1).ForEachPiece([&](int i, int64_t begin, int64_t end) {
    VisitFloat(k.in_spec(i).dtype, [&]<class T>(TypeTag<T>) {
      using C = cpu::ComputeOf<T>;
      T* x = k.inout<T>(i);
      const C high = static_cast<C>(limit), low = -high;
      for (int64_t j = begin; j < end; ++j) {
        const C v = static_cast<C>(x[j]);
        const C above = v > high ? high : v;
        x[j] = static_cast<T>(above < low ? low : above);
      }
    });
  });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(clip_grad_value) {
  return {

      .name = "clip_grad_value",
      .doc = "Cuts elements off at -limit and limit, in place. Not differentiable.",
      .inputs = {{.name = "grads", .dtypes = kFloating, .inout = true, .variadic = true}},
      .attrs = AttrsOf<ClipGradValueAttrs>(),
      .infer = Infer,
      .kernels = {{.name = "loop", .run = Run}},
  };
}

}  // namespace

void inner::ClipGradValue(const std::vector<Tensor>& grads, double limit) {
  static const OpDef& op = Op("clip_grad_value");
  const std::vector<TensorRef> in(grads.begin(), grads.end());
  Apply(op, in, ClipGradValueAttrs{.limit = limit});
}

}  // namespace firn

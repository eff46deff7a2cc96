// any: the logical or over dimensions.

#include "tensor/ops/any.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/cpu/reducers.h"
#include "tensor/op.h"
#include "tensor/reduction.h"

namespace firn {
namespace {

absl::Status Infer(InferContext& c) { return InferReduction(c, DType::kBool); }

absl::Status Run(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::Reduce<bool, T>(k, cpu::AnyReducer()); });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(any) {
  return {
      .name = "any",
      .doc = "Whether any element over dims (empty: all) is not zero. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "any"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = Infer,
      .kernels = {cpu::ReductionKernel<1>(Run)},
  };
}

}  // namespace

Tensor Any(const Tensor& x, const DimList& dims, bool keepdim) {
  static const OpDef& op = Op("any");
  return Apply1(op, {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

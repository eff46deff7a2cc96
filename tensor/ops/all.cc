// all: the logical and over dimensions.

#include "tensor/ops/all.h"

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
             [&]<class T>(TypeTag<T>) { cpu::Reduce<bool, T>(k, cpu::AllReducer()); });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(all) {
  return {
      .name = "all",
      .doc = "Whether no element over dims (empty: all) is zero. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "all"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = Infer,
      .kernels = {cpu::ReductionKernel<1>(Run)},
  };
}

}  // namespace

Tensor All(const Tensor& x, const DimList& dims, bool keepdim) {
  static const OpDef& op = Op("all");
  return Apply1(op, {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

// all: the logical and over dimensions.
//
// any: the logical or over dimensions.

#include "tensor/ops/reduce/truth.h"

#include "tensor/apply.h"
#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/reducers.h"
#include "tensor/op.h"
#include "tensor/ops/reduce/reduction.h"

namespace firn {
namespace {

absl::Status InferAll(InferContext& c) { return InferReduction(c, DType::kBool); }

absl::Status RunAll(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::Reduce<bool, T>(k, AllReducer()); });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(all) {
  return {
      .doc = "Whether no element over dims (empty: all) is zero. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "all"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferAll,
      .kernels = {cpu::ReductionKernel<1>(RunAll)},
  };
}

absl::Status InferAny(InferContext& c) { return InferReduction(c, DType::kBool); }

absl::Status RunAny(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype,
             [&]<class T>(TypeTag<T>) { cpu::Reduce<bool, T>(k, AnyReducer()); });
  return absl::OkStatus();
}

FIRN_REGISTER_OP(any) {
  return {
      .doc = "Whether any element over dims (empty: all) is not zero. Not differentiable.",
      .inputs = {{.name = "x"}},
      .outputs = {{.name = "any"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = InferAny,
      .kernels = {cpu::ReductionKernel<1>(RunAny)},
  };
}

}  // namespace

Tensor All(const Tensor& x, const DimList& dims, bool keepdim) {
  return Apply1(TheOp<"all">(), {x}, ReduceAttrs{dims, keepdim});
}

Tensor Any(const Tensor& x, const DimList& dims, bool keepdim) {
  return Apply1(TheOp<"any">(), {x}, ReduceAttrs{dims, keepdim});
}

}  // namespace firn

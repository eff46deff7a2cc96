// The declaration that reductions share.

#include "firn/tensor/kernels/cpu/reduction_ops.h"

#include "firn/tensor/problems/reduction.h"

namespace firn::cpu::internal {
namespace {

absl::Status InferLikeInput(InferContext& c) { return InferReduction(c, c.dtype(0)); }
absl::Status InferNumber(InferContext& c) {
  return InferReduction(c, IsFloating(c.dtype(0)) ? c.dtype(0) : DType::kI64);
}
absl::Status InferTruth(InferContext& c) { return InferReduction(c, DType::kBool); }

InferFn RuleOf(Reduces what) {
  switch (what) {
    case Reduces::kFloats:
      break;
    case Reduces::kNumbers:
      return InferNumber;
    case Reduces::kExtremes:
      return InferExtreme;
    case Reduces::kTruth:
      return InferTruth;
  }
  return InferLikeInput;
}

}  // namespace

OpDef ReductionOp(std::string_view doc, Reduces what, GradFn grad,
                  std::initializer_list<Saved> saves, Kernel kernel) {
  return {
      .doc = doc,
      .autocast = what == Reduces::kNumbers ? Autocast::kFull : Autocast::kNone,
      .inputs = {{.name = "x", .dtypes = what == Reduces::kFloats ? kFloating : kAnyDType}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<ReduceAttrs>(),
      .infer = RuleOf(what),
      .grad = grad,
      .saves = saves,
      .kernels = {kernel},
  };
}

}  // namespace firn::cpu::internal

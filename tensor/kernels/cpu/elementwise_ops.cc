// The declarations that elementwise operations share.

#include "firn/tensor/kernels/cpu/elementwise_ops.h"

#include "firn/device/status_macros.h"

namespace firn::cpu {

absl::Status CheckDivisor(const KernelContext& k) {
  if (IsFloating(k.in_spec(1).dtype)) return absl::OkStatus();
  const bool zero = VisitInteger(k.in_spec(1).dtype, [&]<class T>(TypeTag<T>) {
    return AnyElement<T>(k, 1, [](T v) { return v == T(0); });
  });
  FIRN_RETURN_IF(zero, InvalidArgument("y ", k.in_spec(1).ToString(),
                                       " has a 0: integers cannot be divided by 0"));
  return absl::OkStatus();
}

namespace internal {

OpDef UnaryOp(std::string_view doc, DTypeSet dtypes, const AttrsType* attrs, GradFn grad,
              SavedList saves, RunFn run, Elementwise elementwise) {
  return {.doc = doc,
          .inputs = {{.name = "x", .dtypes = dtypes}},
          .outputs = {{.name = "y"}},
          .attrs = attrs,
          .infer = InferLikeInput,
          .grad = grad,
          .saves = saves,
          .may_reuse = {{0, 0}},
          .kernels = {ElementwiseKernel(run)},
          .elementwise = elementwise};
}

OpDef BinaryOp(std::string_view doc, DTypeSet dtypes, const AttrsType* attrs, GradFn grad,
               SavedList saves, RunFn run, Elementwise elementwise) {
  return {.doc = doc,
          .inputs = {{.name = "x", .dtypes = dtypes}, {.name = "y", .same_dtype_as = "x"}},
          .outputs = {{.name = "z"}},
          .attrs = attrs,
          .infer = InferBroadcast,
          .grad = grad,
          .saves = saves,
          .may_reuse = {{0, 0}, {0, 1}},
          .kernels = {ElementwiseKernel(run)},
          .elementwise = elementwise};
}

OpDef GradOp(std::string_view doc, std::string_view saved, const AttrsType* attrs, GradFn grad,
             SavedList saves, RunFn run, Elementwise elementwise) {
  OpDef op = BinaryOp(doc, kFloating, attrs, grad, saves, run, elementwise);
  op.inputs = {{.name = "dy", .dtypes = kFloating}, {.name = saved, .same_dtype_as = "dy"}};
  op.outputs = {{.name = "dx"}};
  return op;
}

OpDef Predicate(OpDef op) {
  op.infer = InferPredicate;
  op.may_reuse = {};
  return op;
}

}  // namespace internal
}  // namespace firn::cpu

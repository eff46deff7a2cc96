#ifndef FIRN_TENSOR_KERNELS_CPU_REDUCTION_OPS_H_
#define FIRN_TENSOR_KERNELS_CPU_REDUCTION_OPS_H_

// Declarations of the operations that are nothing but a reducer (see reducers.h) over dimensions.
// A page gives what differs, and gets the rest:
//
//   FIRN_REGISTER_OP(amax) {
//     return cpu::ReductionOp<MaxReducer>("The largest element over dims (empty: all).",
//                                         GradOfExtreme, {Saved::Input(0), Saved::Output(0)});
//   }

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "firn/tensor/kernels/cpu/reduce_loop.h"
#include "firn/tensor/kernels/reducers.h"
#include "firn/tensor/op.h"
#include "firn/tensor/problems/reduce_attrs.h"

namespace firn::cpu {

namespace internal {

// The declaration without the kernels.
OpDef ReductionOp(std::string_view doc, Reduces what, GradFn grad,
                  std::initializer_list<Saved> saves, Kernel kernel);

template <template <class> class R>
absl::Status RunReduction(KernelContext& k) {
  constexpr Reduces kWhat = R<float>::kReduces;
  const auto run = [&]<class T>(TypeTag<T>) {
    Reduce<T>(k, k.attrs<ReduceAttrs>().dims, ReducerFor<R, T>());
  };
  if constexpr (kWhat == Reduces::kFloats) {
    VisitFloat(k.in_spec(0).dtype, run);
  } else {
    VisitDType(k.in_spec(0).dtype, run);
  }
  return absl::OkStatus();
}

template <size_t kAccSize>
size_t ReductionWorkspace(const KernelQuery& q) {
  return ReduceWorkspace(q.in(0), q.attrs<ReduceAttrs>().dims, kAccSize);
}

}  // namespace internal

// y = x reduced by R over the dimensions of ReduceAttrs. R::kReduces says which dtypes x may have
// and which one y has. Sums and products (Reduces::kNumbers) are in full precision inside an
// AutocastScope.
template <template <class> class R>
OpDef ReductionOp(std::string_view doc, GradFn grad = nullptr,
                  std::initializer_list<Saved> saves = {}) {
  return internal::ReductionOp(
      doc, R<float>::kReduces, grad, saves,
      {.name = "loop",
       .workspace = internal::ReductionWorkspace<sizeof(typename R<double>::Acc)>,
       .run = internal::RunReduction<R>,
       .takes = Takes::kStrided});
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_REDUCTION_OPS_H_

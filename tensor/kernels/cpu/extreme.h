#ifndef FIRN_TENSOR_KERNELS_CPU_EXTREME_H_
#define FIRN_TENSOR_KERNELS_CPU_EXTREME_H_

#include "tensor/kernels/cpu/reduce.h"
#include "tensor/kernels/reducers.h"

namespace firn::cpu {

// The kernel of amax and amin.
template <bool kLargest>
absl::Status RunExtreme(KernelContext& k) {
  VisitDType(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    Reduce<T, T>(k, ExtremeReducer<ComparedAs<T>, kLargest>());
  });
  return absl::OkStatus();
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_EXTREME_H_

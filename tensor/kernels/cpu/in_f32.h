#ifndef FIRN_TENSOR_KERNELS_CPU_IN_F32_H_
#define FIRN_TENSOR_KERNELS_CPU_IN_F32_H_

// Kernels for half types of operations that compute far more than they read and write, such as
// convolutions: converting the operands costs little there, and the kernels for f32 are the
// fastest.

#include <vector>

#include "firn/tensor/op.h"

namespace firn::cpu {
namespace internal {

absl::Status PrepareInF32(const std::vector<Kernel>& kernels, const KernelQuery& q,
                          Prepared& answer);
absl::Status RunInF32(KernelContext& k);

}  // namespace internal

// Takes calls whose first input is of a half type. Converts inputs of that type to f32, runs the
// first of `kernels()`, the operation's kernels for f32, that takes the call then, and rounds the
// results once. The operands get the layouts that this kernel asks for.
template <const std::vector<Kernel>& (*kernels)()>
Kernel InF32() {
  return {.name = "in_f32",
          .run = internal::RunInF32,
          .prepare = [](const KernelQuery& q, Prepared& answer) {
            return internal::PrepareInF32(kernels(), q, answer);
          }};
}

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_IN_F32_H_

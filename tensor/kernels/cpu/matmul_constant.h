#ifndef FIRN_TENSOR_KERNELS_CPU_MATMUL_CONSTANT_H_
#define FIRN_TENSOR_KERNELS_CPU_MATMUL_CONSTANT_H_

#include <optional>

#include "absl/status/statusor.h"
#include "firn/tensor/kernels/matmul_plan.h"
#include "firn/tensor/op.h"
#include "firn/tensor/tensor.h"

namespace firn::cpu {

// For products whose right operand never changes: the same matrix with lines that do not collide in
// a cache, 64 bytes longer each, for which RunMatmul gives the same bits. Nothing where that
// would not be faster. `right` is the matrix of `plan.one.b`, of rank 2. Errors: memory.
absl::StatusOr<std::optional<Tensor>> SpreadRight(const MatmulPlan& plan, const Kernel& kernel,
                                                  const Tensor& right);

}  // namespace firn::cpu

#endif  // FIRN_TENSOR_KERNELS_CPU_MATMUL_CONSTANT_H_

#ifndef FIRN_TENSOR_KERNELS_CUDA_BLAS_H_
#define FIRN_TENSOR_KERNELS_CUDA_BLAS_H_

// Matrix products by cuBLASLt.

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/kernels/matmul_plan.h"
#include "firn/tensor/op.h"

namespace firn::cuda {

// OK when BlasMultiply takes operands of that dtype and plan, else the reason why not: integers, an
// operand that is dense in neither direction, sums over nothing.
absl::Status BlasTakes(DType dtype, const MatmulPlan& plan);
// Bytes, for a result of that spec.
size_t BlasWorkspace(const TensorSpec& out, const MatmulPlan& plan, bool bias);
// Output 0 = input 0 times input 1 by `plan`, plus `bias` (a number a column, or null) in each row.
// Half types are summed in float.
absl::Status BlasMultiply(const KernelContext& k, const MatmulPlan& plan, const void* bias);

namespace internal {

// Made from the specs of the operands that the kernel will get.
template <class Operation, bool kPacked>
MatmulPlan PlanOf(const KernelQuery& q) {
  const auto arranged = [](const TensorSpec& s) {
    return kPacked ? TensorSpec::Contiguous(s.dtype, s.shape, s.device) : s;
  };
  return Operation::Plan(arranged(q.in(0)), arranged(q.in(1)), q.attrs_ref());
}

template <class Operation, bool kPacked>
absl::Status BlasSupports(const KernelQuery& q) {
  FIRN_RETURN_IF(!HasLibraries(q.out().device), Unavailable("there is no cuBLAS here"));
  if constexpr (!kPacked && Operation::kBias >= 0) {
    const bool strided = q.has(Operation::kBias) && !q.in(Operation::kBias).layout.contiguous;
    FIRN_RETURN_IF(strided, Unimplemented("wants a dense bias"));
  }
  return BlasTakes(q.in(0).dtype, PlanOf<Operation, kPacked>(q));
}

template <class Operation, bool kPacked>
size_t WorkspaceOfBlas(const KernelQuery& q) {
  bool bias = false;
  if constexpr (Operation::kBias >= 0) bias = q.has(Operation::kBias);
  return BlasWorkspace(q.out(), PlanOf<Operation, kPacked>(q), bias);
}

template <class Operation>
absl::Status RunBlas(KernelContext& k) {
  const void* bias = nullptr;
  if constexpr (Operation::kBias >= 0) bias = k.in<void>(Operation::kBias);
  return BlasMultiply(k, Operation::Plan(k.in_spec(0), k.in_spec(1), k.attrs_ref()), bias);
}

}  // namespace internal

// The kernels of an operation that multiplies its inputs 0 and 1: one reads operands in place, the
// other packed copies of operands that cuBLASLt cannot read. `Operation` has
//   static MatmulPlan Plan(const TensorSpec& a, const TensorSpec& b, AttrsRef attrs);
//   static constexpr int kBias;  // the input with the bias, -1: there is none
template <class Operation>
std::vector<Kernel> BlasKernels() {
  return {{.name = "cublaslt",
           .device = DeviceType::kCuda,
           .supports = internal::BlasSupports<Operation, false>,
           .workspace = internal::WorkspaceOfBlas<Operation, false>,
           .run = internal::RunBlas<Operation>,
           .takes = Takes::kStrided},
          {.name = "cublaslt_packed",
           .device = DeviceType::kCuda,
           .supports = internal::BlasSupports<Operation, true>,
           .workspace = internal::WorkspaceOfBlas<Operation, true>,
           .run = internal::RunBlas<Operation>}};
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_BLAS_H_

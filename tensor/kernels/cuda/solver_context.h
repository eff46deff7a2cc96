#ifndef FIRN_TENSOR_KERNELS_CUDA_SOLVER_CONTEXT_H_
#define FIRN_TENSOR_KERNELS_CUDA_SOLVER_CONTEXT_H_

// The handles of cuSOLVER and cuBLAS. Only solver.cc and batched_solver.cc include it: it needs
// CUDA.

#include <mutex>

#include "absl/status/statusor.h"
#include "firn/tensor/kernels/cuda/solver_api.h"

namespace firn::cuda {

absl::Status SolverStatus(cusolverStatus_t code, const char* call);
absl::Status BlasStatus(cublasStatus_t code, const char* call);

// One for each device; each call sets its stream, and threads share it under its lock.
struct SolverContext {
  std::mutex mutex;
  cusolverDnHandle_t solver = nullptr;
  cusolverDnParams_t params = nullptr;
  syevjInfo_t jacobi = nullptr;  // both with their defaults: all digits, values in order
  gesvdjInfo_t svd_jacobi = nullptr;
  cublasHandle_t blas = nullptr;
};
absl::StatusOr<SolverContext*> SolverContextOf(const SolverApi& api, Device device);
// Requires: the context's lock.
absl::Status SetSolverStream(const SolverApi& api, const SolverContext& context, void* stream);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SOLVER_CONTEXT_H_

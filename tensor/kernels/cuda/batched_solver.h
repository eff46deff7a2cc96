#ifndef FIRN_TENSOR_KERNELS_CUDA_BATCHED_SOLVER_H_
#define FIRN_TENSOR_KERNELS_CUDA_BATCHED_SOLVER_H_

// Factors of many small matrices in one call, by cuBLAS and cuSOLVER, which solver.h computes one
// after the other. These functions take matrices by their addresses (matrices.h: SetAddresses) and
// do not wait for the device, so that they can be recorded.

#include <cstdint>

#include "absl/status/status.h"
#include "firn/tensor/kernels/cuda/launch.h"
#include "firn/tensor/kernels/cuda/solver.h"

namespace firn::cuda {

// OK where the libraries can be used and the batch suits these functions: more than one matrix, of
// at most 128 rows (docs/decisions/gpu.md).
absl::Status SupportsBatch(Device device, const SolverBatch& batch);

// P A = L U, as FactorLu. `pivots`: n for each matrix, which count from 1. `infos`: a number each.
absl::Status FactorBatchLu(const Queue& queue, const SolverBatch& batch, void* const* a,
                           int32_t* pivots, int32_t* infos);
// Like SolveLu, for as many systems as there are matrices, each with a matrix of its own.
absl::Status SolveBatchLu(const Queue& queue, const SolverBatch& batch, bool transposed,
                          const void* const* lu, const int32_t* pivots, int64_t columns,
                          void* const* b);
// Like FactorCholesky.
absl::Status FactorBatchCholesky(const Queue& queue, const SolverBatch& batch, bool upper,
                                 void* const* a, int32_t* infos);
// Like SolveTriangles, each system with a matrix of its own.
absl::Status SolveBatchTriangles(const Queue& queue, const SolverBatch& batch,
                                 const TriangularSystem& system, const void* const* a,
                                 void* const* b);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_BATCHED_SOLVER_H_

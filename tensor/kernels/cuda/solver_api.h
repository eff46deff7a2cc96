#ifndef FIRN_TENSOR_KERNELS_CUDA_SOLVER_API_H_
#define FIRN_TENSOR_KERNELS_CUDA_SOLVER_API_H_

// Only solver.cc, batched_solver.cc and stand-ins include it: it needs CUDA.

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>

namespace firn::cuda {

// The functions that Firn calls of cuSOLVER, and of cuBLAS for triangles and products.
struct SolverApi {
  decltype(&cudaSetDevice) set_device = cudaSetDevice;
  decltype(&cublasCreate) create_blas = cublasCreate;
  decltype(&cublasSetStream) set_blas_stream = cublasSetStream;
  decltype(&cublasStrsm_64) strsm = cublasStrsm_64;
  decltype(&cublasDtrsm_64) dtrsm = cublasDtrsm_64;
  decltype(&cublasSgemmStridedBatched_64) sgemm = cublasSgemmStridedBatched_64;
  decltype(&cublasDgemmStridedBatched_64) dgemm = cublasDgemmStridedBatched_64;
  decltype(&cublasSgetrfBatched) sgetrf = cublasSgetrfBatched;
  decltype(&cublasDgetrfBatched) dgetrf = cublasDgetrfBatched;
  decltype(&cublasSgetrsBatched) sgetrs = cublasSgetrsBatched;
  decltype(&cublasDgetrsBatched) dgetrs = cublasDgetrsBatched;
  decltype(&cublasStrsmBatched_64) strsm_batched = cublasStrsmBatched_64;
  decltype(&cublasDtrsmBatched_64) dtrsm_batched = cublasDtrsmBatched_64;
  decltype(&cusolverDnCreate) create = cusolverDnCreate;
  decltype(&cusolverDnCreateParams) create_params = cusolverDnCreateParams;
  decltype(&cusolverDnSetStream) set_stream = cusolverDnSetStream;
  decltype(&cusolverDnXpotrf_bufferSize) potrf_size = cusolverDnXpotrf_bufferSize;
  decltype(&cusolverDnXpotrf) potrf = cusolverDnXpotrf;
  decltype(&cusolverDnSpotrfBatched) spotrf_batched = cusolverDnSpotrfBatched;
  decltype(&cusolverDnDpotrfBatched) dpotrf_batched = cusolverDnDpotrfBatched;
  decltype(&cusolverDnXgetrf_bufferSize) getrf_size = cusolverDnXgetrf_bufferSize;
  decltype(&cusolverDnXgetrf) getrf = cusolverDnXgetrf;
  decltype(&cusolverDnXgetrs) getrs = cusolverDnXgetrs;
  decltype(&cusolverDnXgeqrf_bufferSize) geqrf_size = cusolverDnXgeqrf_bufferSize;
  decltype(&cusolverDnXgeqrf) geqrf = cusolverDnXgeqrf;
  decltype(&cusolverDnSorgqr_bufferSize) sorgqr_size = cusolverDnSorgqr_bufferSize;
  decltype(&cusolverDnDorgqr_bufferSize) dorgqr_size = cusolverDnDorgqr_bufferSize;
  decltype(&cusolverDnSorgqr) sorgqr = cusolverDnSorgqr;
  decltype(&cusolverDnDorgqr) dorgqr = cusolverDnDorgqr;
  decltype(&cusolverDnXsyevd_bufferSize) syevd_size = cusolverDnXsyevd_bufferSize;
  decltype(&cusolverDnXsyevd) syevd = cusolverDnXsyevd;
  decltype(&cusolverDnCreateSyevjInfo) create_jacobi = cusolverDnCreateSyevjInfo;
  decltype(&cusolverDnSsyevjBatched_bufferSize) ssyevj_size = cusolverDnSsyevjBatched_bufferSize;
  decltype(&cusolverDnDsyevjBatched_bufferSize) dsyevj_size = cusolverDnDsyevjBatched_bufferSize;
  decltype(&cusolverDnSsyevjBatched) ssyevj = cusolverDnSsyevjBatched;
  decltype(&cusolverDnDsyevjBatched) dsyevj = cusolverDnDsyevjBatched;
  decltype(&cusolverDnCreateGesvdjInfo) create_svd_jacobi = cusolverDnCreateGesvdjInfo;
  decltype(&cusolverDnSgesvdjBatched_bufferSize) sgesvdj_size = cusolverDnSgesvdjBatched_bufferSize;
  decltype(&cusolverDnDgesvdjBatched_bufferSize) dgesvdj_size = cusolverDnDgesvdjBatched_bufferSize;
  decltype(&cusolverDnSgesvdjBatched) sgesvdj = cusolverDnSgesvdjBatched;
  decltype(&cusolverDnDgesvdjBatched) dgesvdj = cusolverDnDgesvdjBatched;
  decltype(&cusolverDnXgesvd_bufferSize) gesvd_size = cusolverDnXgesvd_bufferSize;
  decltype(&cusolverDnXgesvd) gesvd = cusolverDnXgesvd;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_SOLVER_API_H_

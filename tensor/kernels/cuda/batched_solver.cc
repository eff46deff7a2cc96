// cuBLAS's functions for batches and cuSOLVER's for Cholesky factors do not wait: each call goes to
// the queue (launch.h), with addresses that lie in device memory.

#include "firn/tensor/kernels/cuda/batched_solver.h"

#include <limits>
#include <mutex>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "firn/tensor/kernels/cuda/solver_context.h"

namespace firn::cuda {
namespace {

constexpr int64_t kMostRows = 128;

// The arguments of any of these calls.
struct BatchCall {
  Device device;
  DType dtype;
  bool upper, transposed, left, unit_diagonal;
  int n, count;
  int64_t rows, columns;  // of right sides
  void* const* a;
  void* const* b;
  int32_t *pivots, *infos;
};

BatchCall CallOf(const Queue& queue, const SolverBatch& batch) {
  BatchCall c{};
  c.device = queue.device;
  c.dtype = batch.dtype;
  c.n = static_cast<int>(batch.n);
  c.count = static_cast<int>(batch.count);
  return c;
}

// Calls f(api, context, a type's number) with the libraries on the stream.
template <class F>
absl::Status OnStream(const BatchCall& c, void* stream, const F& f) {
  const SolverApi& api = *LibraryApi<SolverApi>::Of(c.device);
  FIRN_ASSIGN_OR_RETURN(SolverContext* const context, SolverContextOf(api, c.device));
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(SetSolverStream(api, *context, stream));
  return c.dtype == DType::kF64 ? f(api, *context, 0.0) : f(api, *context, 0.0f);
}

template <class T>
T* const* Places(void* const* at) {
  return reinterpret_cast<T* const*>(at);
}

// The function of T.
template <class T, class Single, class Double>
auto Of(Single of_f32, Double of_f64) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return of_f32;
  } else {
    return of_f64;
  }
}

absl::Status Getrf(const BatchCall& c, void* stream) {
  return OnStream(c, stream, [&]<class T>(const SolverApi& api, const SolverContext& context, T) {
    const auto getrf = Of<T>(api.sgetrf, api.dgetrf);
    return BlasStatus(getrf(context.blas, c.n, Places<T>(c.a), c.n, c.pivots, c.infos, c.count),
                      "cublas<t>getrfBatched");
  });
}

absl::Status Getrs(const BatchCall& c, void* stream) {
  return OnStream(c, stream, [&]<class T>(const SolverApi& api, const SolverContext& context, T) {
    const auto getrs = Of<T>(api.sgetrs, api.dgetrs);
    int info = 0;  // of the arguments
    return BlasStatus(getrs(context.blas, c.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, c.n,
                            static_cast<int>(c.columns), Places<const T>(c.a), c.n, c.pivots,
                            Places<T>(c.b), c.n, &info, c.count),
                      "cublas<t>getrsBatched");
  });
}

cublasFillMode_t FillOf(const BatchCall& c) {
  return c.upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

absl::Status Potrf(const BatchCall& c, void* stream) {
  return OnStream(c, stream, [&]<class T>(const SolverApi& api, const SolverContext& context, T) {
    const auto potrf = Of<T>(api.spotrf_batched, api.dpotrf_batched);
    return SolverStatus(potrf(context.solver, FillOf(c), c.n, const_cast<T**>(Places<T>(c.a)), c.n,
                              c.infos, c.count),
                        "cusolverDn<t>potrfBatched");
  });
}

absl::Status Trsm(const BatchCall& c, void* stream) {
  return OnStream(c, stream, [&]<class T>(const SolverApi& api, const SolverContext& context, T) {
    const auto trsm = Of<T>(api.strsm_batched, api.dtrsm_batched);
    const T one = 1;
    return BlasStatus(
        trsm(context.blas, c.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, FillOf(c), CUBLAS_OP_N,
             c.unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, c.rows, c.columns, &one,
             Places<const T>(c.a), c.n, Places<T>(c.b), c.rows, c.count),
        "cublas<t>trsmBatched");
  });
}

}  // namespace

absl::Status SupportsBatch(Device device, const SolverBatch& batch) {
  FIRN_RETURN_IF_ERROR(SolverIsThere(device));
  FIRN_RETURN_IF(batch.n < 1 || batch.n > kMostRows || batch.count < 2 ||
                     batch.count > std::numeric_limits<int>::max(),
                 Unimplemented("takes several matrices of up to ", kMostRows, " rows"));
  return absl::OkStatus();
}

absl::Status FactorBatchLu(const Queue& queue, const SolverBatch& batch, void* const* a,
                           int32_t* pivots, int32_t* infos) {
  BatchCall c = CallOf(queue, batch);
  c.a = a;
  c.pivots = pivots;
  c.infos = infos;
  return Call<Getrf>(queue, "cublas<t>getrfBatched", c);
}

absl::Status SolveBatchLu(const Queue& queue, const SolverBatch& batch, bool transposed,
                          const void* const* lu, const int32_t* pivots, int64_t columns,
                          void* const* b) {
  FIRN_RETURN_IF(columns > std::numeric_limits<int>::max(),
                 Unimplemented("takes sizes below 2^31"));
  BatchCall c = CallOf(queue, batch);
  c.transposed = transposed;
  c.a = const_cast<void* const*>(lu);
  c.pivots = const_cast<int32_t*>(pivots);
  c.columns = columns;
  c.b = b;
  return Call<Getrs>(queue, "cublas<t>getrsBatched", c);
}

absl::Status FactorBatchCholesky(const Queue& queue, const SolverBatch& batch, bool upper,
                                 void* const* a, int32_t* infos) {
  BatchCall c = CallOf(queue, batch);
  c.upper = upper;
  c.a = a;
  c.infos = infos;
  return Call<Potrf>(queue, "cusolverDn<t>potrfBatched", c);
}

absl::Status SolveBatchTriangles(const Queue& queue, const SolverBatch& batch,
                                 const TriangularSystem& system, const void* const* a,
                                 void* const* b) {
  BatchCall c = CallOf(queue, batch);
  c.left = system.left;
  c.upper = system.upper;
  c.unit_diagonal = system.unit_diagonal;
  c.rows = system.m;
  c.columns = system.n;
  c.a = const_cast<void* const*>(a);
  c.b = b;
  return Call<Trsm>(queue, "cublas<t>trsmBatched", c);
}

}  // namespace firn::cuda

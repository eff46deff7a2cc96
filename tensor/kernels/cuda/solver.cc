// One handle a device, told its stream before each call. The 64-bit functions of cuSOLVER serve all
// dtypes; their params stay as they are made, which asks for the usual algorithms.

#include "firn/tensor/kernels/cuda/solver.h"

#include <mutex>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "firn/tensor/kernels/cuda/per_device.h"
#include "firn/tensor/kernels/cuda/solver_api.h"

namespace firn::cuda {
namespace {

absl::Status SolverStatus(cusolverStatus_t code, const char* call) {
  if (code == CUSOLVER_STATUS_SUCCESS) return absl::OkStatus();
  return Internal(call, ": cusolverStatus_t ", static_cast<int>(code));
}

absl::Status BlasStatus(cublasStatus_t code, const char* call) {
  if (code == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return Internal(call, ": ", cublasGetStatusString(code));
}

struct Context {
  std::mutex mutex;
  cusolverDnHandle_t solver = nullptr;
  cusolverDnParams_t params = nullptr;
  cublasHandle_t blas = nullptr;
};

absl::StatusOr<Context*> ContextOf(const SolverApi& api, Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  const auto init = [&](Context& context) {
    FIRN_RETURN_IF_ERROR(SolverStatus(api.create(&context.solver), "cusolverDnCreate"));
    FIRN_RETURN_IF_ERROR(
        SolverStatus(api.create_params(&context.params), "cusolverDnCreateParams"));
    return BlasStatus(api.create_blas(&context.blas), "cublasCreate");
  };
  return contexts->Get(device, init, api.set_device);
}

cudaDataType TypeOf(DType dtype) { return dtype == DType::kF64 ? CUDA_R_64F : CUDA_R_32F; }

// How much scratch memory `ask`(api, context, bytes, host_bytes) says.
template <class Ask>
absl::StatusOr<SolverScratch> ScratchOf(Device device, const char* call, const Ask& ask) {
  FIRN_RETURN_IF_ERROR(SolverIsThere(device));
  const SolverApi& api = *LibraryApi<SolverApi>::Of(device);
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(api, device));
  SolverScratch s;
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(SolverStatus(ask(api, *context, &s.bytes, &s.host_bytes), call));
  if (s.host_bytes != 0) s.host = std::make_shared<char[]>(s.host_bytes);
  return s;
}

// Calls f(api, context, i), which queues something on the queue, for every i < count. Nothing is
// repeated across it.
template <class F>
absl::Status ForEachMatrix(const Queue& queue, int64_t count, const F& f) {
  const SolverApi& api = *LibraryApi<SolverApi>::Of(queue.device);
  FIRN_ASSIGN_OR_RETURN(void* const handle, StreamHandle(queue));
  FIRN_ASSIGN_OR_RETURN(Context* const context, ContextOf(api, queue.device));
  const auto stream = static_cast<cudaStream_t>(handle);
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(
      SolverStatus(api.set_stream(context->solver, stream), "cusolverDnSetStream"));
  FIRN_RETURN_IF_ERROR(BlasStatus(api.set_blas_stream(context->blas, stream), "cublasSetStream"));
  for (int64_t i = 0; i < count; ++i) FIRN_RETURN_IF_ERROR(f(api, *context, i));
  return absl::OkStatus();
}

// Element i of what lies behind `data`.
template <class T>
T* Element(DType dtype, T* data, int64_t i) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte*>(data) + i * SizeOf(dtype);
}

cublasFillMode_t Fill(bool upper) {
  return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

}  // namespace

absl::Status SolverIsThere(Device device) {
  FIRN_RETURN_IF(LibraryApi<SolverApi>::Of(device) == nullptr,
                 Unavailable("there is no cuSOLVER here"));
  return absl::OkStatus();
}

absl::StatusOr<SolverScratch> CholeskyScratch(Device device, const SolverBatch& b, bool upper) {
  const cudaDataType type = TypeOf(b.dtype);
  return ScratchOf(device, "cusolverDnXpotrf_bufferSize",
                   [&](const SolverApi& api, const Context& c, size_t* bytes, size_t* host_bytes) {
                     return api.potrf_size(c.solver, c.params, Fill(upper), b.n, type, nullptr, b.n,
                                           type, bytes, host_bytes);
                   });
}

absl::Status FactorCholesky(const Queue& queue, const SolverBatch& b, bool upper,
                            const SolverScratch& scratch, void* workspace, void* a,
                            int32_t* infos) {
  const cudaDataType type = TypeOf(b.dtype);
  return ForEachMatrix(queue, b.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    return SolverStatus(api.potrf(c.solver, c.params, Fill(upper), b.n, type,
                                  Element(b.dtype, a, i * b.n * b.n), b.n, type, workspace,
                                  scratch.bytes, scratch.host.get(), scratch.host_bytes, infos + i),
                        "cusolverDnXpotrf");
  });
}

absl::StatusOr<SolverScratch> LuScratch(Device device, const SolverBatch& b) {
  const cudaDataType type = TypeOf(b.dtype);
  return ScratchOf(device, "cusolverDnXgetrf_bufferSize",
                   [&](const SolverApi& api, const Context& c, size_t* bytes, size_t* host_bytes) {
                     return api.getrf_size(c.solver, c.params, b.n, b.n, type, nullptr, b.n, type,
                                           bytes, host_bytes);
                   });
}

absl::Status FactorLu(const Queue& queue, const SolverBatch& b, const SolverScratch& scratch,
                      void* workspace, void* a, int64_t* pivots, int32_t* info) {
  const cudaDataType type = TypeOf(b.dtype);
  return ForEachMatrix(queue, b.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    return SolverStatus(
        api.getrf(c.solver, c.params, b.n, b.n, type, Element(b.dtype, a, i * b.n * b.n), b.n,
                  pivots + i * b.n, type, workspace, scratch.bytes, scratch.host.get(),
                  scratch.host_bytes, info),
        "cusolverDnXgetrf");
  });
}

absl::Status SolveLu(const Queue& queue, const SolverBatch& batch, bool transposed,
                     absl::FunctionRef<int64_t(int64_t)> at, const void* lu, const int64_t* pivots,
                     int64_t columns, void* b, int32_t* info) {
  const cudaDataType type = TypeOf(batch.dtype);
  const int64_t n = batch.n;
  return ForEachMatrix(queue, batch.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    const int64_t matrix = at(i);
    return SolverStatus(
        api.getrs(c.solver, c.params, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, columns, type,
                  Element(batch.dtype, lu, matrix * n * n), n, pivots + matrix * n, type,
                  Element(batch.dtype, b, i * n * columns), n, info),
        "cusolverDnXgetrs");
  });
}

absl::Status SolveTriangles(const Queue& queue, const SolverBatch& batch, const TriangularSystem& s,
                            absl::FunctionRef<int64_t(int64_t)> at, const void* a, void* b) {
  const cublasSideMode_t side = s.left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
  const cublasDiagType_t diagonal = s.unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  return ForEachMatrix(queue, batch.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    const auto solve = [&](auto trsm, auto one) {
      using T = decltype(one);
      return trsm(c.blas, side, Fill(s.upper), CUBLAS_OP_N, diagonal, s.m, s.n, &one,
                  static_cast<const T*>(a) + at(i) * batch.n * batch.n, batch.n,
                  static_cast<T*>(b) + i * s.m * s.n, s.m);
    };
    return BlasStatus(batch.dtype == DType::kF64 ? solve(api.dtrsm, 1.0) : solve(api.strsm, 1.0f),
                      "cublas trsm");
  });
}

}  // namespace firn::cuda

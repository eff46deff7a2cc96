// One handle a device, told its stream before each call. The 64-bit functions of cuSOLVER serve all
// dtypes; their params keep the defaults, which ask for the usual algorithms.

#include "firn/tensor/kernels/cuda/solver.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "firn/device/status_macros.h"
#include "firn/tensor/kernels/cuda/library_api.h"
#include "firn/tensor/kernels/cuda/per_device.h"
#include "firn/tensor/kernels/cuda/solver_context.h"

namespace firn::cuda {
namespace {

using Context = SolverContext;

cudaDataType TypeOf(DType dtype) { return dtype == DType::kF64 ? CUDA_R_64F : CUDA_R_32F; }

// The scratch memory that `ask`(api, context, bytes, host_bytes) reports.
template <class Ask>
absl::StatusOr<SolverScratch> ScratchOf(Device device, const char* call, const Ask& ask) {
  FIRN_RETURN_IF_ERROR(SolverIsThere(device));
  const SolverApi& api = *LibraryApi<SolverApi>::Of(device);
  FIRN_ASSIGN_OR_RETURN(Context* const context, SolverContextOf(api, device));
  SolverScratch s;
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(SolverStatus(ask(api, *context, &s.bytes, &s.host_bytes), call));
  if (s.host_bytes != 0) s.host = std::make_shared<char[]>(s.host_bytes);
  return s;
}

// The same for functions that count elements.
template <class Ask>
absl::StatusOr<SolverScratch> ElementsOf(Device device, const char* call, DType dtype,
                                         const Ask& ask) {
  return ScratchOf(device, call,
                   [&](const SolverApi& api, const Context& c, size_t* bytes, size_t*) {
                     int elements = 0;
                     const cusolverStatus_t status = ask(api, c, &elements);
                     *bytes = static_cast<size_t>(elements) * static_cast<size_t>(SizeOf(dtype));
                     return status;
                   });
}

// Calls f(api, context, i), which queues something on the queue, for every i < count. A repeated
// recording ends before it.
template <class F>
absl::Status ForEachMatrix(const Queue& queue, int64_t count, const F& f) {
  const SolverApi& api = *LibraryApi<SolverApi>::Of(queue.device);
  FIRN_ASSIGN_OR_RETURN(void* const handle, StreamHandle(queue));
  FIRN_ASSIGN_OR_RETURN(Context* const context, SolverContextOf(api, queue.device));
  const std::lock_guard lock(context->mutex);
  FIRN_RETURN_IF_ERROR(SetSolverStream(api, *context, handle));
  for (int64_t i = 0; i < count; ++i) FIRN_RETURN_IF_ERROR(f(api, *context, i));
  return absl::OkStatus();
}

// Element i of the array at `data`.
template <class T>
T* Element(DType dtype, T* data, int64_t i) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return static_cast<Byte*>(data) + i * SizeOf(dtype);
}

cublasFillMode_t Fill(bool upper) {
  return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

}  // namespace

absl::Status SolverStatus(cusolverStatus_t code, const char* call) {
  if (code == CUSOLVER_STATUS_SUCCESS) return absl::OkStatus();
  return Internal(call, ": cusolverStatus_t ", static_cast<int>(code));
}

absl::Status BlasStatus(cublasStatus_t code, const char* call) {
  if (code == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return Internal(call, ": ", cublasGetStatusString(code));
}

absl::StatusOr<SolverContext*> SolverContextOf(const SolverApi& api, Device device) {
  static auto* const contexts = new PerDevice<Context>;  // never destroyed, as the contexts
  const auto init = [&](Context& context) {
    FIRN_RETURN_IF_ERROR(SolverStatus(api.create(&context.solver), "cusolverDnCreate"));
    FIRN_RETURN_IF_ERROR(
        SolverStatus(api.create_params(&context.params), "cusolverDnCreateParams"));
    FIRN_RETURN_IF_ERROR(
        SolverStatus(api.create_jacobi(&context.jacobi), "cusolverDnCreateSyevjInfo"));
    FIRN_RETURN_IF_ERROR(
        SolverStatus(api.create_svd_jacobi(&context.svd_jacobi), "cusolverDnCreateGesvdjInfo"));
    return BlasStatus(api.create_blas(&context.blas), "cublasCreate");
  };
  return contexts->Get(device, init, api.set_device);
}

absl::Status SetSolverStream(const SolverApi& api, const SolverContext& context, void* stream) {
  const auto at = static_cast<cudaStream_t>(stream);
  FIRN_RETURN_IF_ERROR(SolverStatus(api.set_stream(context.solver, at), "cusolverDnSetStream"));
  return BlasStatus(api.set_blas_stream(context.blas, at), "cublasSetStream");
}

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

// --- QR ------------------------------------------------------------------------------------------

// orgqr exists only with sizes of int, and counts its memory in elements.
absl::StatusOr<SolverScratch> QrScratch(Device device, const QrBatch& b) {
  FIRN_RETURN_IF(std::max({b.m, b.n, b.q}) > std::numeric_limits<int>::max(),
                 Unimplemented("takes sizes below 2^31"));
  const cudaDataType type = TypeOf(b.dtype);
  FIRN_ASSIGN_OR_RETURN(
      SolverScratch scratch,
      ScratchOf(device, "cusolverDnXgeqrf_bufferSize",
                [&](const SolverApi& api, const Context& c, size_t* bytes, size_t* host_bytes) {
                  return api.geqrf_size(c.solver, c.params, b.m, b.n, type, nullptr, b.m, type,
                                        nullptr, type, bytes, host_bytes);
                }));
  if (b.q == 0) return scratch;
  const int m = static_cast<int>(b.m), q = static_cast<int>(b.q);
  const int k = static_cast<int>(b.reflectors());
  const auto ask = [&](const SolverApi& api, const Context& c, int* elements) {
    return b.dtype == DType::kF64
               ? api.dorgqr_size(c.solver, m, q, k, nullptr, m, nullptr, elements)
               : api.sorgqr_size(c.solver, m, q, k, nullptr, m, nullptr, elements);
  };
  FIRN_ASSIGN_OR_RETURN(const SolverScratch of_q,
                        ElementsOf(device, "cusolverDn<t>orgqr_bufferSize", b.dtype, ask));
  scratch.bytes = std::max(scratch.bytes, of_q.bytes);
  return scratch;
}

absl::Status FactorQr(const Queue& queue, const QrBatch& b, const SolverScratch& scratch,
                      void* workspace, void* a, void* taus, int32_t* info) {
  const cudaDataType type = TypeOf(b.dtype);
  return ForEachMatrix(queue, b.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    return SolverStatus(
        api.geqrf(c.solver, c.params, b.m, b.n, type, Element(b.dtype, a, i * b.place()), b.m, type,
                  Element(b.dtype, taus, i * b.reflectors()), type, workspace, scratch.bytes,
                  scratch.host.get(), scratch.host_bytes, info),
        "cusolverDnXgeqrf");
  });
}

absl::Status FormQ(const Queue& queue, const QrBatch& b, const SolverScratch& scratch,
                   void* workspace, void* a, const void* taus, int32_t* info) {
  const int m = static_cast<int>(b.m), q = static_cast<int>(b.q);
  const int k = static_cast<int>(b.reflectors());
  constexpr size_t kMost = std::numeric_limits<int>::max();
  const int room =
      static_cast<int>(std::min(kMost, scratch.bytes / static_cast<size_t>(SizeOf(b.dtype))));
  return ForEachMatrix(queue, b.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    const auto form = [&](auto orgqr, auto type) {
      using T = decltype(type);
      return orgqr(c.solver, m, q, k, static_cast<T*>(a) + i * b.place(), m,
                   static_cast<const T*>(taus) + i * b.reflectors(), static_cast<T*>(workspace),
                   room, info);
    };
    return SolverStatus(b.dtype == DType::kF64 ? form(api.dorgqr, 1.0) : form(api.sorgqr, 1.0f),
                        "cusolverDn<t>orgqr");
  });
}

// --- Eigenvalues and singular values -------------------------------------------------------------

bool FitOneCall(int64_t rows, int64_t count) {
  return rows <= 32 && count > 1 && count <= std::numeric_limits<int>::max();
}

absl::StatusOr<SolverScratch> ManyEighScratch(Device device, const SolverBatch& b, bool upper) {
  const int n = static_cast<int>(b.n), count = static_cast<int>(b.count);
  const auto ask = [&](const SolverApi& api, const Context& c, int* elements) {
    const auto size = [&](auto function) {
      return function(c.solver, CUSOLVER_EIG_MODE_VECTOR, Fill(upper), n, nullptr, n, nullptr,
                      elements, c.jacobi, count);
    };
    return b.dtype == DType::kF64 ? size(api.dsyevj_size) : size(api.ssyevj_size);
  };
  return ElementsOf(device, "cusolverDn<t>syevjBatched_bufferSize", b.dtype, ask);
}

absl::Status FactorManyEigh(const Queue& queue, const SolverBatch& b, bool upper,
                            const SolverScratch& scratch, void* workspace, void* a, void* values,
                            int32_t* infos) {
  const int n = static_cast<int>(b.n), count = static_cast<int>(b.count);
  return ForEachMatrix(queue, 1, [&](const SolverApi& api, const Context& c, int64_t) {
    const auto find = [&](auto syevj, auto type) {
      using T = decltype(type);
      return syevj(c.solver, CUSOLVER_EIG_MODE_VECTOR, Fill(upper), n, static_cast<T*>(a), n,
                   static_cast<T*>(values), static_cast<T*>(workspace),
                   static_cast<int>(scratch.bytes / sizeof(T)), infos, c.jacobi, count);
    };
    return SolverStatus(b.dtype == DType::kF64 ? find(api.dsyevj, 1.0) : find(api.ssyevj, 1.0f),
                        "cusolverDn<t>syevjBatched");
  });
}

absl::StatusOr<SolverScratch> EighScratch(Device device, const SolverBatch& b, bool upper) {
  if (FitOneCall(b.n, b.count)) return ManyEighScratch(device, b, upper);
  const cudaDataType type = TypeOf(b.dtype);
  return ScratchOf(device, "cusolverDnXsyevd_bufferSize",
                   [&](const SolverApi& api, const Context& c, size_t* bytes, size_t* host_bytes) {
                     return api.syevd_size(c.solver, c.params, CUSOLVER_EIG_MODE_VECTOR,
                                           Fill(upper), b.n, type, nullptr, b.n, type, nullptr,
                                           type, bytes, host_bytes);
                   });
}

absl::Status FactorEigh(const Queue& queue, const SolverBatch& b, bool upper,
                        const SolverScratch& scratch, void* workspace, void* a, void* values,
                        int32_t* infos) {
  if (FitOneCall(b.n, b.count)) {
    return FactorManyEigh(queue, b, upper, scratch, workspace, a, values, infos);
  }
  const cudaDataType type = TypeOf(b.dtype);
  return ForEachMatrix(queue, b.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    return SolverStatus(api.syevd(c.solver, c.params, CUSOLVER_EIG_MODE_VECTOR, Fill(upper), b.n,
                                  type, Element(b.dtype, a, i * b.n * b.n), b.n, type,
                                  Element(b.dtype, values, i * b.n), type, workspace, scratch.bytes,
                                  scratch.host.get(), scratch.host_bytes, infos + i),
                        "cusolverDnXsyevd");
  });
}

// Which vectors are wanted: as many as there are singular values, or all.
signed char JobOf(const SvdBatch& b) { return b.width == b.n ? 'S' : 'A'; }

absl::StatusOr<SolverScratch> ManySvdScratch(Device device, const SvdBatch& b) {
  const int m = static_cast<int>(b.m), n = static_cast<int>(b.n), count = static_cast<int>(b.count);
  const auto ask = [&](const SolverApi& api, const Context& c, int* elements) {
    const auto size = [&](auto function) {
      return function(c.solver, CUSOLVER_EIG_MODE_VECTOR, m, n, nullptr, m, nullptr, nullptr, m,
                      nullptr, n, elements, c.svd_jacobi, count);
    };
    return b.dtype == DType::kF64 ? size(api.dgesvdj_size) : size(api.sgesvdj_size);
  };
  return ElementsOf(device, "cusolverDn<t>gesvdjBatched_bufferSize", b.dtype, ask);
}

absl::Status FactorManySvd(const Queue& queue, const SvdBatch& b, const SolverScratch& scratch,
                           void* workspace, void* a, void* s, void* u, void* v, int32_t* infos) {
  const int m = static_cast<int>(b.m), n = static_cast<int>(b.n), count = static_cast<int>(b.count);
  return ForEachMatrix(queue, 1, [&](const SolverApi& api, const Context& c, int64_t) {
    const auto find = [&](auto gesvdj, auto type) {
      using T = decltype(type);
      return gesvdj(c.solver, CUSOLVER_EIG_MODE_VECTOR, m, n, static_cast<T*>(a), m,
                    static_cast<T*>(s), static_cast<T*>(u), m, static_cast<T*>(v), n,
                    static_cast<T*>(workspace), static_cast<int>(scratch.bytes / sizeof(T)), infos,
                    c.svd_jacobi, count);
    };
    return SolverStatus(b.dtype == DType::kF64 ? find(api.dgesvdj, 1.0) : find(api.sgesvdj, 1.0f),
                        "cusolverDn<t>gesvdjBatched");
  });
}

absl::StatusOr<SolverScratch> SvdScratch(Device device, const SvdBatch& b) {
  if (b.one_call) return ManySvdScratch(device, b);
  const cudaDataType type = TypeOf(b.dtype);
  return ScratchOf(device, "cusolverDnXgesvd_bufferSize",
                   [&](const SolverApi& api, const Context& c, size_t* bytes, size_t* host_bytes) {
                     return api.gesvd_size(c.solver, c.params, JobOf(b), JobOf(b), b.m, b.n, type,
                                           nullptr, b.m, type, nullptr, type, nullptr, b.m, type,
                                           nullptr, b.n, type, bytes, host_bytes);
                   });
}

absl::Status FactorSvd(const Queue& queue, const SvdBatch& b, const SolverScratch& scratch,
                       void* workspace, void* a, void* s, void* u, void* vt, int32_t* infos) {
  if (b.one_call) return FactorManySvd(queue, b, scratch, workspace, a, s, u, vt, infos);
  const cudaDataType type = TypeOf(b.dtype);
  return ForEachMatrix(queue, b.count, [&](const SolverApi& api, const Context& c, int64_t i) {
    return SolverStatus(
        api.gesvd(c.solver, c.params, JobOf(b), JobOf(b), b.m, b.n, type,
                  Element(b.dtype, a, i * b.m * b.n), b.m, type, Element(b.dtype, s, i * b.n), type,
                  Element(b.dtype, u, i * b.m * b.width), b.m, type,
                  Element(b.dtype, vt, i * b.n * b.n), b.n, type, workspace, scratch.bytes,
                  scratch.host.get(), scratch.host_bytes, infos + i),
        "cusolverDnXgesvd");
  });
}

absl::Status Multiply(const Queue& queue, const MatrixProducts& p, const void* a, const void* b,
                      void* c) {
  const cublasOperation_t op = p.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  return ForEachMatrix(queue, 1, [&](const SolverApi& api, const Context& context, int64_t) {
    const auto multiply = [&](auto gemm, auto one) {
      using T = decltype(one);
      const T zero = 0;
      return gemm(context.blas, op, op, p.m, p.n, p.k, &one, static_cast<const T*>(a),
                  p.transposed ? p.k : p.m, p.m * p.k, static_cast<const T*>(b),
                  p.transposed ? p.n : p.k, p.k * p.n, &zero, static_cast<T*>(c), p.m, p.m * p.n,
                  p.count);
    };
    return BlasStatus(p.dtype == DType::kF64 ? multiply(api.dgemm, 1.0) : multiply(api.sgemm, 1.0f),
                      "cublas gemm");
  });
}

}  // namespace firn::cuda

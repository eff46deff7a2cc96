// Stand-ins for cuSOLVER and cuBLAS: the textbook's loops over column-major matrices. Scratch
// memory is written to, elements that a function may destroy are, and those that it must not read
// may be NaN.
#include "tests/device/fake_cusolver.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "firn/tensor/kernels/cuda/library_api.h"

namespace firn::fake {
namespace {

cublasStatus_t CreateBlas(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new Handle);  // as long as the process lives
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t SetBlasStream(cublasHandle_t handle, cudaStream_t stream) {
  StreamOf(handle)->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cusolverStatus_t Create(cusolverDnHandle_t* handle) {
  *handle = reinterpret_cast<cusolverDnHandle_t>(new Handle);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t CreateParams(cusolverDnParams_t* params) {
  *params = reinterpret_cast<cusolverDnParams_t>(new Handle);
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t SetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  StreamOf(handle)->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}

// --- Cholesky ------------------------------------------------------------------------------------

template <class T>
void Potrf(const Work& w) {
  if (w.device != nullptr) std::memset(w.device, 0xFF, w.bytes);
  const Columns<T> a{static_cast<T*>(w.a), w.lda};
  const auto lower = [&](int64_t i, int64_t j) -> T& { return w.upper ? a(j, i) : a(i, j); };
  *w.info = 0;
  for (int64_t j = 0; j < w.n; ++j) {
    for (int64_t i = 0; i < j; ++i) lower(i, j) = std::numeric_limits<T>::quiet_NaN();
  }
  for (int64_t j = 0; j < w.n; ++j) {
    for (int64_t i = j; i < w.n; ++i) {
      double rest = lower(i, j);
      for (int64_t k = 0; k < j; ++k) rest -= double{lower(i, k)} * double{lower(j, k)};
      if (i == j && !(rest > 0)) {
        *w.info = static_cast<int>(j + 1);
        return;
      }
      lower(i, j) = static_cast<T>(i == j ? std::sqrt(rest) : rest / double{lower(j, j)});
    }
  }
}

cusolverStatus_t PotrfSize(cusolverDnHandle_t, cusolverDnParams_t, cublasFillMode_t, int64_t n,
                           cudaDataType type, const void*, int64_t lda, cudaDataType compute,
                           size_t* bytes, size_t* host_bytes) {
  if (!TypesAreFine(type, compute) || n < 1 || lda < n) return CUSOLVER_STATUS_INVALID_VALUE;
  *bytes = static_cast<size_t>(n * kWork);
  *host_bytes = static_cast<size_t>(n * kHostWork);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t RunPotrf(cusolverDnHandle_t handle, cusolverDnParams_t, cublasFillMode_t fill,
                          int64_t n, cudaDataType type, void* a, int64_t lda, cudaDataType compute,
                          void* device, size_t bytes, void* host, size_t host_bytes, int* info) {
  if (!TypesAreFine(type, compute) || n < 1 || lda < n || info == nullptr ||
      !ScratchIsFine(n, device, bytes, host, host_bytes)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = a, w.lda = lda, w.n = n, w.info = info, w.device = device, w.bytes = bytes;
  w.upper = fill == CUBLAS_FILL_MODE_UPPER;
  return QueueFor<Potrf<double>, Potrf<float>>(handle, type, w);
}

// --- LU ------------------------------------------------------------------------------------------

template <class T>
void Getrf(const Work& w) {
  if (w.device != nullptr) std::memset(w.device, 0xFF, w.bytes);
  const Columns<T> a{static_cast<T*>(w.a), w.lda};
  *w.info = 0;
  for (int64_t k = 0; k < w.n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < w.n; ++i) {
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    }
    w.pivots[k] = best + 1;
    for (int64_t j = 0; j < w.n; ++j) std::swap(a(k, j), a(best, j));
    if (a(k, k) == T(0)) {
      if (*w.info == 0) *w.info = static_cast<int>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < w.n; ++i) {
      a(i, k) /= a(k, k);
      for (int64_t j = k + 1; j < w.n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
}

cusolverStatus_t GetrfSize(cusolverDnHandle_t handle, cusolverDnParams_t params, int64_t m,
                           int64_t n, cudaDataType type, const void* a, int64_t lda,
                           cudaDataType compute, size_t* bytes, size_t* host_bytes) {
  if (m != n) return CUSOLVER_STATUS_NOT_SUPPORTED;
  return PotrfSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, a, lda, compute, bytes,
                   host_bytes);
}

cusolverStatus_t RunGetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                          cudaDataType type, void* a, int64_t lda, int64_t* pivots,
                          cudaDataType compute, void* device, size_t bytes, void* host,
                          size_t host_bytes, int* info) {
  if (!TypesAreFine(type, compute) || n < 1 || m != n || lda < n || info == nullptr ||
      pivots == nullptr || !ScratchIsFine(n, device, bytes, host, host_bytes)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = a, w.lda = lda, w.n = n, w.pivots = pivots, w.info = info, w.device = device;
  w.bytes = bytes;
  return QueueFor<Getrf<double>, Getrf<float>>(handle, type, w);
}

// x = the solution of a triangular system, in place: of its transposed, where that is asked.
template <class T>
void Substitute(const Columns<T>& a, bool upper, bool transposed, bool unit, int64_t n, T* x,
                int64_t step) {
  const auto at = [&](int64_t i, int64_t j) { return double{transposed ? a(j, i) : a(i, j)}; };
  const bool from_below = upper != transposed;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t i = from_below ? n - 1 - k : k;
    double rest = x[i * step];
    for (int64_t j = from_below ? i + 1 : 0; j < (from_below ? n : i); ++j) {
      rest -= at(i, j) * double{x[j * step]};
    }
    x[i * step] = static_cast<T>(unit ? rest : rest / at(i, i));
  }
}

template <class T>
void Getrs(const Work& w) {
  const Columns<T> lu{static_cast<T*>(w.a), w.lda}, b{static_cast<T*>(w.b), w.ldb};
  *w.info = 0;
  for (int64_t j = 0; j < w.m; ++j) {
    T* const x = &b(0, j);
    if (w.transposed) {
      Substitute(lu, true, true, false, w.n, x, 1);
      Substitute(lu, false, true, true, w.n, x, 1);
      for (int64_t k = w.n - 1; k >= 0; --k) std::swap(x[k], x[w.pivots[k] - 1]);
    } else {
      for (int64_t k = 0; k < w.n; ++k) std::swap(x[k], x[w.pivots[k] - 1]);
      Substitute(lu, false, false, true, w.n, x, 1);
      Substitute(lu, true, false, false, w.n, x, 1);
    }
  }
}

cusolverStatus_t RunGetrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t trans,
                          int64_t n, int64_t columns, cudaDataType type, const void* a, int64_t lda,
                          const int64_t* pivots, cudaDataType b_type, void* b, int64_t ldb,
                          int* info) {
  if (!TypesAreFine(type, b_type) || n < 1 || columns < 1 || lda < n || ldb < n ||
      info == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = const_cast<void*>(a), w.lda = lda, w.n = n, w.m = columns, w.b = b, w.ldb = ldb;
  w.pivots = const_cast<int64_t*>(pivots), w.info = info;
  w.transposed = trans == CUBLAS_OP_T;
  return QueueFor<Getrs<double>, Getrs<float>>(handle, type, w);
}

// --- Triangles -----------------------------------------------------------------------------------

// With A on the right, rows of X are columns of the transposed system's.
template <class T>
void Trsm(const Work& w) {
  const Columns<T> a{static_cast<T*>(w.a), w.lda}, b{static_cast<T*>(w.b), w.ldb};
  for (int64_t i = 0; i < (w.left ? w.n : w.m); ++i) {
    Substitute(a, w.upper, w.left == w.transposed, w.unit, w.left ? w.m : w.n,
               w.left ? &b(0, i) : &b(i, 0), w.left ? 1 : w.ldb);
  }
}

template <class T>
cublasStatus_t RunTrsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                       cublasOperation_t trans, cublasDiagType_t diagonal, int64_t m, int64_t n,
                       const T* alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  if (*alpha != T(1) || m < 1 || n < 1 || lda < (left ? m : n) || ldb < m) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = const_cast<T*>(a), w.lda = lda, w.b = b, w.ldb = ldb, w.m = m, w.n = n, w.left = left;
  w.upper = fill == CUBLAS_FILL_MODE_UPPER;
  w.transposed = trans == CUBLAS_OP_T;
  w.unit = diagonal == CUBLAS_DIAG_UNIT;
  return Queue<Trsm<T>>(StreamOf(handle)->stream, w) ? CUBLAS_STATUS_SUCCESS
                                                     : CUBLAS_STATUS_EXECUTION_FAILED;
}

// --- Batches of small matrices -------------------------------------------------------------------

// The addresses lie in device memory, and are read when the work runs.
struct Batch {
  const void* const* a;
  void* const* b;
  int *pivots, *infos;
  int count;
  Work each;
};

template <class T, void (*kWork)(const Work&)>
void ForEachMatrix(const Batch& batch) {
  const int64_t n = batch.each.n;
  std::vector<int64_t> pivots(static_cast<size_t>(n));
  for (int i = 0; i < batch.count; ++i) {
    Work w = batch.each;
    int info = 0;
    w.a = const_cast<void*>(batch.a[i]);
    w.b = batch.b == nullptr ? nullptr : batch.b[i];
    w.info = batch.infos == nullptr ? &info : batch.infos + i;
    w.pivots = pivots.data();
    int* const given = batch.pivots == nullptr ? nullptr : batch.pivots + i * n;
    if (given != nullptr && w.b != nullptr) std::copy_n(given, n, pivots.begin());
    kWork(w);
    if (given == nullptr || w.b != nullptr) continue;
    for (int64_t j = 0; j < n; ++j) given[j] = static_cast<int>(pivots[static_cast<size_t>(j)]);
  }
}

template <class T, void (*kWork)(const Work&)>
cublasStatus_t QueueBatch(const void* handle, const Batch& batch) {
  return Queue<ForEachMatrix<T, kWork>>(StreamOf(handle)->stream, batch)
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

Batch BatchOf(const void* const* a, int64_t lda, int64_t n, int count) {
  Batch b{};
  b.a = a, b.count = count;
  b.each.lda = lda, b.each.n = n;
  return b;
}

template <class T>
const void* const* Untyped(T* const* at) {
  return reinterpret_cast<const void* const*>(at);
}

template <class T>
cublasStatus_t GetrfBatched(cublasHandle_t handle, int n, T* const* a, int lda, int* pivots,
                            int* infos, int count) {
  if (n < 1 || lda < n || infos == nullptr || count < 1) return CUBLAS_STATUS_INVALID_VALUE;
  Batch b = BatchOf(Untyped(a), lda, n, count);
  b.pivots = pivots, b.infos = infos;
  return QueueBatch<T, Getrf<T>>(handle, b);
}

template <class T>
cublasStatus_t GetrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int columns,
                            const T* const* a, int lda, const int* pivots, T* const* sides, int ldb,
                            int* info, int count) {
  const bool fine = n >= 1 && columns >= 1 && lda >= n && ldb >= n && count >= 1;
  *info = fine ? 0 : -1;
  if (!fine) return CUBLAS_STATUS_INVALID_VALUE;
  Batch b = BatchOf(Untyped(a), lda, n, count);
  b.b = const_cast<void* const*>(Untyped(sides));
  b.pivots = const_cast<int*>(pivots);
  b.each.ldb = ldb, b.each.m = columns;
  b.each.transposed = trans == CUBLAS_OP_T;
  return QueueBatch<T, Getrs<T>>(handle, b);
}

template <class T>
cusolverStatus_t PotrfBatched(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T** a,
                              int lda, int* infos, int count) {
  if (n < 1 || lda < n || infos == nullptr || count < 1) return CUSOLVER_STATUS_INVALID_VALUE;
  Batch b = BatchOf(Untyped(a), lda, n, count);
  b.infos = infos;
  b.each.upper = fill == CUBLAS_FILL_MODE_UPPER;
  return QueueBatch<T, Potrf<T>>(handle, b) == CUBLAS_STATUS_SUCCESS
             ? CUSOLVER_STATUS_SUCCESS
             : CUSOLVER_STATUS_EXECUTION_FAILED;
}

template <class T>
cublasStatus_t TrsmBatched(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                           cublasOperation_t trans, cublasDiagType_t diagonal, int64_t m, int64_t n,
                           const T* alpha, const T* const* a, int64_t lda, T* const* sides,
                           int64_t ldb, int64_t count) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  if (*alpha != T(1) || m < 1 || n < 1 || lda < (left ? m : n) || ldb < m || count < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  Batch b = BatchOf(Untyped(a), lda, n, static_cast<int>(count));
  b.b = const_cast<void* const*>(Untyped(sides));
  b.each.ldb = ldb, b.each.m = m, b.each.left = left;
  b.each.upper = fill == CUBLAS_FILL_MODE_UPPER;
  b.each.transposed = trans == CUBLAS_OP_T;
  b.each.unit = diagonal == CUBLAS_DIAG_UNIT;
  return QueueBatch<T, Trsm<T>>(handle, b);
}

constexpr cuda::SolverApi kFactors = {
    .set_device = SetDevice,
    .create_blas = CreateBlas,
    .set_blas_stream = SetBlasStream,
    .strsm = RunTrsm<float>,
    .dtrsm = RunTrsm<double>,
    .sgetrf = GetrfBatched<float>,
    .dgetrf = GetrfBatched<double>,
    .sgetrs = GetrsBatched<float>,
    .dgetrs = GetrsBatched<double>,
    .strsm_batched = TrsmBatched<float>,
    .dtrsm_batched = TrsmBatched<double>,
    .create = Create,
    .create_params = CreateParams,
    .set_stream = SetStream,
    .potrf_size = PotrfSize,
    .potrf = RunPotrf,
    .spotrf_batched = PotrfBatched<float>,
    .dpotrf_batched = PotrfBatched<double>,
    .getrf_size = GetrfSize,
    .getrf = RunGetrf,
    .getrs = RunGetrs,
};

}  // namespace

void UseCusolver(bool use) {
  static const cuda::SolverApi all = [] {
    cuda::SolverApi api = kFactors;
    AddQr(api);
    AddDecompositions(api);
    return api;
  }();
  cuda::LibraryApi<cuda::SolverApi>::SetStandIn(use ? &all : nullptr);
}

}  // namespace firn::fake

// Stand-ins for cuSOLVER's QR decompositions, eigenvalues and singular values, and cuBLAS's
// products: Householder's reflectors, Jacobi's rotations, loops. A function destroys everything
// that it may destroy, and elements that it must not read may be NaN.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/device/fake_cusolver.h"

namespace firn::fake {
namespace {

using Vector = std::vector<double>;

double Dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// --- Singular values -----------------------------------------------------------------------------

// Turns columns p and q of `own` until they are at right angles, and those of `along` with them.
// Whether they were not before.
bool Rotate(Vector& p, Vector& q, Vector& along_p, Vector& along_q) {
  const double a = Dot(p, p), b = Dot(q, q), c = Dot(p, q);
  if (std::abs(c) <= 1e-15 * std::sqrt(a * b)) return false;
  const double z = (b - a) / (2 * c);
  const double t = std::copysign(1 / (std::abs(z) + std::hypot(1, z)), z);
  const double cosine = 1 / std::hypot(1, t), sine = cosine * t;
  const auto turn = [&](Vector& x, Vector& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      const double u = x[i], v = y[i];
      x[i] = cosine * u - sine * v;
      y[i] = sine * u + cosine * v;
    }
  };
  turn(p, q);
  turn(along_p, along_q);
  return true;
}

// A unit vector at right angles to all of `basis`.
Vector Another(const std::vector<Vector>& basis, size_t size) {
  Vector best;
  double longest = 0;
  for (size_t i = 0; i < size; ++i) {
    Vector v(size);
    v[i] = 1;
    for (int twice = 0; twice < 2; ++twice) {
      for (const Vector& b : basis) {
        const double c = Dot(v, b);
        for (size_t j = 0; j < size; ++j) v[j] -= c * b[j];
      }
    }
    if (Dot(v, v) > longest) longest = Dot(v, v), best = v;
  }
  for (double& x : best) x /= std::sqrt(longest);
  return best;
}

template <class T>
std::vector<Vector> ColumnsOf(const Columns<T>& a, int64_t m, int64_t n) {
  std::vector<Vector> columns;
  for (int64_t j = 0; j < n; ++j) {
    columns.emplace_back();
    for (int64_t i = 0; i < m; ++i) columns.back().push_back(double{a(i, j)});
  }
  return columns;
}

// Jacobi's method of one side: u and v become the columns of A V and V. Gives their order.
std::vector<size_t> TakeApart(std::vector<Vector>& u, std::vector<Vector>& v, Vector& lengths) {
  const size_t n = u.size();
  for (size_t j = 0; j < n; ++j) v.emplace_back(n), v[j][j] = 1;
  bool more = true;
  for (int sweep = 0; more && sweep < 60; ++sweep) {
    more = false;
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) more |= Rotate(u[p], u[q], v[p], v[q]);
    }
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  for (const Vector& x : u) lengths.push_back(std::sqrt(Dot(x, x)));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t i, size_t j) { return lengths[i] > lengths[j]; });
  return order;
}

template <class T>
void Gesvd(const Work& w) {
  std::memset(w.device, 0xFF, w.bytes);
  const Columns<T> a{static_cast<T*>(w.a), w.lda}, u{static_cast<T*>(w.b), w.ldb};
  const Columns<T> vt{static_cast<T*>(w.c), w.ldc};
  std::vector<Vector> left = ColumnsOf(a, w.m, w.n), right, basis;
  Vector lengths;
  const std::vector<size_t> order = TakeApart(left, right, lengths);
  for (int64_t j = 0; j < w.k; ++j) {
    const bool has = j < w.n;
    const size_t from = has ? order[static_cast<size_t>(j)] : 0;
    const bool own = has && lengths[from] > 1e-14 * lengths[order[0]];
    basis.push_back(own ? left[from] : Another(basis, static_cast<size_t>(w.m)));
    for (double& x : basis.back()) x /= own ? lengths[from] : 1;
    for (int64_t i = 0; i < w.m; ++i) {
      u(i, j) = static_cast<T>(basis.back()[static_cast<size_t>(i)]);
      if (has) a(i, j) = std::numeric_limits<T>::quiet_NaN();
    }
    if (!has) continue;
    static_cast<T*>(w.values)[j] = static_cast<T>(lengths[from]);
    for (int64_t i = 0; i < w.n; ++i)
      vt(j, i) = static_cast<T>(right[from][static_cast<size_t>(i)]);
  }
  *w.info = 0;
}

cusolverStatus_t GesvdSize(cusolverDnHandle_t, cusolverDnParams_t, signed char job_u,
                           signed char job_vt, int64_t m, int64_t n, cudaDataType type, const void*,
                           int64_t lda, cudaDataType s_type, const void*, cudaDataType u_type,
                           const void*, int64_t ldu, cudaDataType vt_type, const void*,
                           int64_t ldvt, cudaDataType compute, size_t* bytes, size_t* host_bytes) {
  const bool jobs = job_u == job_vt && (job_u == 'A' || job_u == 'S');
  if (!TypesAreFine(type, compute) || s_type != type || u_type != type || vt_type != type ||
      !jobs || n < 1 || m < n || lda < m || ldu < m || ldvt < n) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *bytes = static_cast<size_t>(n * kWork);
  *host_bytes = static_cast<size_t>(n * kHostWork);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t RunGesvd(cusolverDnHandle_t handle, cusolverDnParams_t params, signed char job_u,
                          signed char job_vt, int64_t m, int64_t n, cudaDataType type, void* a,
                          int64_t lda, cudaDataType s_type, void* s, cudaDataType u_type, void* u,
                          int64_t ldu, cudaDataType vt_type, void* vt, int64_t ldvt,
                          cudaDataType compute, void* device, size_t bytes, void* host,
                          size_t host_bytes, int* info) {
  size_t least = 0, least_host = 0;
  const cusolverStatus_t status =
      GesvdSize(handle, params, job_u, job_vt, m, n, type, a, lda, s_type, s, u_type, u, ldu,
                vt_type, vt, ldvt, compute, &least, &least_host);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (info == nullptr || !ScratchIsFine(n, device, bytes, host, host_bytes)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = a, w.lda = lda, w.m = m, w.n = n, w.values = s, w.b = u, w.ldb = ldu, w.c = vt;
  w.ldc = ldvt, w.k = job_u == 'A' ? m : n, w.info = info, w.device = device, w.bytes = bytes;
  return QueueFor<Gesvd<double>, Gesvd<float>>(handle, type, w);
}

// V as it is, and all of U.
template <class T>
void Gesvdj(const Work& w) {
  Gesvd<T>(w);
  const Columns<T> v{static_cast<T*>(w.c), w.ldc};
  for (int64_t i = 0; i < w.n; ++i) {
    for (int64_t j = 0; j < i; ++j) std::swap(v(i, j), v(j, i));
  }
}

cusolverStatus_t CreateSvdJacobi(gesvdjInfo_t* info) {
  *info = reinterpret_cast<gesvdjInfo_t>(new Handle);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t GesvdjSize(cusolverDnHandle_t, cusolverEigMode_t mode, int m, int n, const T*,
                            int lda, const T*, const T*, int ldu, const T*, int ldv, int* elements,
                            gesvdjInfo_t params, int count) {
  if (mode != CUSOLVER_EIG_MODE_VECTOR || n < 1 || m < n || m > 32 || lda < m || ldu < m ||
      ldv < n || params == nullptr || count < 1) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *elements = 5 * m * count;
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t RunGesvdj(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n, T* a,
                           int lda, T* s, T* u, int ldu, T* v, int ldv, T* work, int elements,
                           int* infos, gesvdjInfo_t params, int count) {
  int least = 0;
  const cusolverStatus_t status =
      GesvdjSize<T>(handle, mode, m, n, a, lda, s, u, ldu, v, ldv, &least, params, count);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (work == nullptr || infos == nullptr || elements < least) return CUSOLVER_STATUS_INVALID_VALUE;
  for (int i = 0; i < count; ++i) {
    Work w{};
    w.a = a + i * lda * n, w.lda = lda, w.m = m, w.n = n, w.k = m, w.values = s + i * n;
    w.b = u + i * ldu * m, w.ldb = ldu, w.c = v + i * ldv * n, w.ldc = ldv, w.info = infos + i;
    w.device = work, w.bytes = static_cast<size_t>(elements) * sizeof(T);
    if (!Queue<Gesvdj<T>>(StreamOf(handle)->stream, w)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

// --- Eigenvalues ---------------------------------------------------------------------------------

// Computes eigenvalues as singular values of A + c I, which has no negative eigenvalues.
template <class T>
void Syevd(const Work& w) {
  std::memset(w.device, 0xFF, w.bytes);
  const Columns<T> a{static_cast<T*>(w.a), w.lda};
  std::vector<Vector> left = ColumnsOf(a, w.n, w.n), right;
  const auto n = static_cast<size_t>(w.n);
  double most = 0;
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < j; ++i)
      (w.upper ? left[i][j] : left[j][i]) = w.upper ? left[j][i] : left[i][j];
  }
  for (const Vector& column : left) most = std::max(most, std::sqrt(Dot(column, column)));
  const double shift = 2 * static_cast<double>(n) * most;
  for (size_t j = 0; j < n; ++j) left[j][j] += shift;
  Vector lengths;
  const std::vector<size_t> order = TakeApart(left, right, lengths);
  for (int64_t j = 0; j < w.n; ++j) {
    const size_t from = order[static_cast<size_t>(w.n - 1 - j)];
    static_cast<T*>(w.values)[j] = static_cast<T>(lengths[from] - shift);
    for (int64_t i = 0; i < w.n; ++i) a(i, j) = static_cast<T>(right[from][static_cast<size_t>(i)]);
  }
  *w.info = 0;
}

cusolverStatus_t SyevdSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t mode,
                           cublasFillMode_t, int64_t n, cudaDataType type, const void*, int64_t lda,
                           cudaDataType w_type, const void*, cudaDataType compute, size_t* bytes,
                           size_t* host_bytes) {
  if (!TypesAreFine(type, compute) || w_type != type || mode != CUSOLVER_EIG_MODE_VECTOR || n < 1 ||
      lda < n) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *bytes = static_cast<size_t>(n * kWork);
  *host_bytes = static_cast<size_t>(n * kHostWork);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t RunSyevd(cusolverDnHandle_t handle, cusolverDnParams_t params,
                          cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                          cudaDataType type, void* a, int64_t lda, cudaDataType w_type,
                          void* values, cudaDataType compute, void* device, size_t bytes,
                          void* host, size_t host_bytes, int* info) {
  size_t least = 0, least_host = 0;
  const cusolverStatus_t status = SyevdSize(handle, params, mode, fill, n, type, a, lda, w_type,
                                            values, compute, &least, &least_host);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (info == nullptr || !ScratchIsFine(n, device, bytes, host, host_bytes)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = a, w.lda = lda, w.n = n, w.values = values, w.info = info, w.device = device;
  w.bytes = bytes, w.upper = fill == CUBLAS_FILL_MODE_UPPER;
  return QueueFor<Syevd<double>, Syevd<float>>(handle, type, w);
}

cusolverStatus_t CreateJacobi(syevjInfo_t* info) {
  *info = reinterpret_cast<syevjInfo_t>(new Handle);
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t SyevjSize(cusolverDnHandle_t, cusolverEigMode_t mode, cublasFillMode_t, int n,
                           const T*, int lda, const T*, int* elements, syevjInfo_t params,
                           int count) {
  if (mode != CUSOLVER_EIG_MODE_VECTOR || n < 1 || lda < n || params == nullptr || count < 1) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *elements = 7 * n * count;
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t RunSyevj(cusolverDnHandle_t handle, cusolverEigMode_t mode, cublasFillMode_t fill,
                          int n, T* a, int lda, T* values, T* work, int elements, int* infos,
                          syevjInfo_t params, int count) {
  int least = 0;
  const cusolverStatus_t status =
      SyevjSize<T>(handle, mode, fill, n, a, lda, values, &least, params, count);
  if (status != CUSOLVER_STATUS_SUCCESS) return status;
  if (work == nullptr || infos == nullptr || elements < least) return CUSOLVER_STATUS_INVALID_VALUE;
  for (int i = 0; i < count; ++i) {
    Work w{};
    w.a = a + i * lda * n, w.lda = lda, w.n = n, w.values = values + i * n, w.info = infos + i;
    w.device = work, w.bytes = static_cast<size_t>(elements) * sizeof(T);
    w.upper = fill == CUBLAS_FILL_MODE_UPPER;
    if (!Queue<Syevd<T>>(StreamOf(handle)->stream, w)) return CUSOLVER_STATUS_EXECUTION_FAILED;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

// --- Products ------------------------------------------------------------------------------------

// C = A B, m x n; the matrices of a batch lie one behind the other.
template <class T>
void Gemm(const Work& w) {
  for (int64_t j = 0; j < w.n; ++j) {
    for (int64_t i = 0; i < w.m; ++i) {
      const Columns<const T> a{static_cast<const T*>(w.a), w.lda},
          b{static_cast<const T*>(w.b), w.ldb};
      double sum = 0;
      for (int64_t p = 0; p < w.k; ++p) {
        sum += w.transposed ? double{a(p, i)} * double{b(j, p)} : double{a(i, p)} * double{b(p, j)};
      }
      static_cast<T*>(w.c)[j * w.ldc + i] = static_cast<T>(sum);
    }
  }
}

template <class T>
cublasStatus_t RunGemm(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                       int64_t m, int64_t n, int64_t k, const T* alpha, const T* a, int64_t lda,
                       long long a_step, const T* b, int64_t ldb, long long b_step, const T* beta,
                       T* c, int64_t ldc, long long c_step, int64_t count) {
  const bool transposed = of_a == CUBLAS_OP_T;
  if (of_a != of_b || *alpha != T(1) || *beta != T(0) || m < 1 || n < 1 || k < 1 ||
      lda < (transposed ? k : m) || ldb < (transposed ? n : k) || ldc < m) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (int64_t i = 0; i < count; ++i) {
    Work w{};
    w.a = const_cast<T*>(a) + i * a_step, w.lda = lda, w.b = const_cast<T*>(b) + i * b_step;
    w.ldb = ldb, w.c = c + i * c_step, w.ldc = ldc, w.m = m, w.n = n, w.k = k;
    w.transposed = transposed;
    if (!Queue<Gemm<T>>(StreamOf(handle)->stream, w)) return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

void AddDecompositions(cuda::SolverApi& api) {
  api.syevd_size = SyevdSize;
  api.syevd = RunSyevd;
  api.create_jacobi = CreateJacobi;
  api.ssyevj_size = SyevjSize<float>;
  api.dsyevj_size = SyevjSize<double>;
  api.ssyevj = RunSyevj<float>;
  api.dsyevj = RunSyevj<double>;
  api.create_svd_jacobi = CreateSvdJacobi;
  api.sgesvdj_size = GesvdjSize<float>;
  api.dgesvdj_size = GesvdjSize<double>;
  api.sgesvdj = RunGesvdj<float>;
  api.dgesvdj = RunGesvdj<double>;
  api.gesvd_size = GesvdSize;
  api.gesvd = RunGesvd;
  api.sgemm = RunGemm<float>;
  api.dgemm = RunGemm<double>;
}

}  // namespace firn::fake

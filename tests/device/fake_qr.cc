// Stand-ins for cuSOLVER's QR decompositions: Householder's reflectors, one after the other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/device/fake_cusolver.h"

namespace firn::fake {
namespace {

using Vector = std::vector<double>;

// v of the reflector in column k.
template <class T>
Vector Reflector(const Columns<T>& a, int64_t rows, int64_t k) {
  Vector v(static_cast<size_t>(rows));
  v[static_cast<size_t>(k)] = 1;
  for (int64_t i = k + 1; i < rows; ++i) v[static_cast<size_t>(i)] = double{a(i, k)};
  return v;
}

// Columns from `first` on, times I - tau v v^T.
template <class T>
void Reflect(const Columns<T>& a, const Vector& v, double tau, int64_t first, int64_t end) {
  for (int64_t j = first; j < end; ++j) {
    double sum = 0;
    for (size_t i = 0; i < v.size(); ++i) sum += v[i] * double{a(static_cast<int64_t>(i), j)};
    for (size_t i = 0; i < v.size(); ++i) {
      T& element = a(static_cast<int64_t>(i), j);
      element = static_cast<T>(double{element} - tau * sum * v[i]);
    }
  }
}

template <class T>
void Geqrf(const Work& w) {
  std::memset(w.device, 0xFF, w.bytes);
  const Columns<T> a{static_cast<T*>(w.a), w.lda};
  T* const taus = static_cast<T*>(w.b);
  *w.info = 0;
  for (int64_t k = 0; k < std::min(w.m, w.n); ++k) {
    double below = 0;
    for (int64_t i = k + 1; i < w.m; ++i) below += double{a(i, k)} * double{a(i, k)};
    taus[k] = 0;
    if (below == 0) continue;
    const double alpha = double{a(k, k)};
    const double beta = -std::copysign(std::sqrt(below + alpha * alpha), alpha);
    for (int64_t i = k + 1; i < w.m; ++i)
      a(i, k) = static_cast<T>(double{a(i, k)} / (alpha - beta));
    taus[k] = static_cast<T>((beta - alpha) / beta);
    a(k, k) = static_cast<T>(beta);
    Reflect(a, Reflector(a, w.m, k), double{taus[k]}, k + 1, w.n);
  }
}

cusolverStatus_t GeqrfSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n,
                           cudaDataType type, const void*, int64_t lda, cudaDataType tau_type,
                           const void*, cudaDataType compute, size_t* bytes, size_t* host_bytes) {
  if (!TypesAreFine(type, compute) || type != tau_type || m < 1 || n < 1 || lda < m) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  *bytes = static_cast<size_t>(n * kWork);
  *host_bytes = static_cast<size_t>(n * kHostWork);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t RunGeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                          cudaDataType type, void* a, int64_t lda, cudaDataType tau_type, void* tau,
                          cudaDataType compute, void* device, size_t bytes, void* host,
                          size_t host_bytes, int* info) {
  if (!TypesAreFine(type, compute) || type != tau_type || m < 1 || n < 1 || lda < m ||
      info == nullptr || !ScratchIsFine(n, device, bytes, host, host_bytes)) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = a, w.lda = lda, w.m = m, w.n = n, w.b = tau, w.info = info, w.device = device;
  w.bytes = bytes;
  return QueueFor<Geqrf<double>, Geqrf<float>>(handle, type, w);
}

// The first n columns of the product of k reflectors, in their place.
template <class T>
void Orgqr(const Work& w) {
  std::memset(w.device, 0xFF, w.bytes);
  const Columns<T> a{static_cast<T*>(w.a), w.lda};
  const T* const taus = static_cast<const T*>(w.b);
  std::vector<Vector> reflectors;
  for (int64_t k = 0; k < w.k; ++k) reflectors.push_back(Reflector(a, w.m, k));
  for (int64_t j = 0; j < w.n; ++j) {
    for (int64_t i = 0; i < w.m; ++i) a(i, j) = i == j ? T(1) : T(0);
  }
  for (int64_t k = w.k - 1; k >= 0; --k) {
    Reflect(a, reflectors[static_cast<size_t>(k)], double{taus[k]}, 0, w.n);
  }
  *w.info = 0;
}

template <class T>
cusolverStatus_t OrgqrSize(cusolverDnHandle_t, int m, int n, int k, const T*, int lda, const T*,
                           int* elements) {
  if (n < 1 || m < n || n < k || k < 1 || lda < m) return CUSOLVER_STATUS_INVALID_VALUE;
  *elements = n * 100;  // larger than any decomposition needs
  return CUSOLVER_STATUS_SUCCESS;
}

template <class T>
cusolverStatus_t RunOrgqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda,
                          const T* tau, T* work, int elements, int* info) {
  if (n < 1 || m < n || n < k || k < 1 || lda < m || work == nullptr || elements < n * 100 ||
      info == nullptr) {
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  Work w{};
  w.a = a, w.lda = lda, w.m = m, w.n = n, w.k = k, w.b = const_cast<T*>(tau), w.info = info;
  w.device = work, w.bytes = static_cast<size_t>(elements) * sizeof(T);
  return Queue<Orgqr<T>>(StreamOf(handle)->stream, w) ? CUSOLVER_STATUS_SUCCESS
                                                      : CUSOLVER_STATUS_EXECUTION_FAILED;
}

}  // namespace

void AddQr(cuda::SolverApi& api) {
  api.geqrf_size = GeqrfSize;
  api.geqrf = RunGeqrf;
  api.sorgqr_size = OrgqrSize<float>;
  api.dorgqr_size = OrgqrSize<double>;
  api.sorgqr = RunOrgqr<float>;
  api.dorgqr = RunOrgqr<double>;
}

}  // namespace firn::fake

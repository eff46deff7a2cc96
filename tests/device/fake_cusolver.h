#ifndef FIRN_TESTS_DEVICE_FAKE_CUSOLVER_H_
#define FIRN_TESTS_DEVICE_FAKE_CUSOLVER_H_

// What the parts of the stand-in for cuSOLVER share. Needs CUDA.

#include <cstdint>
#include <cstring>

#include "firn/tensor/kernels/cuda/solver_api.h"
#include "tests/device/fake_library_work.h"

namespace firn::fake {

inline constexpr int64_t kWork = 264, kHostWork = 40;  // bytes for each row

// A handle holds the stream of the calls with it.
struct Handle {
  cudaStream_t stream = nullptr;
};
inline Handle* StreamOf(const void* handle) {
  return static_cast<Handle*>(const_cast<void*>(handle));
}

// The arguments of one call of any of the functions.
struct Work {
  void *a, *b, *c, *values, *device;
  int64_t lda, ldb, ldc, m, n, k;
  int64_t* pivots;
  int* info;
  size_t bytes;
  bool upper, transposed, left, unit;
};

// A column-major matrix.
template <class T>
struct Columns {
  T* at;
  int64_t leading;
  T& operator()(int64_t i, int64_t j) const { return at[j * leading + i]; }
};

template <auto kDouble, auto kFloat>
cusolverStatus_t QueueFor(const void* handle, cudaDataType type, const Work& work) {
  void* const stream = StreamOf(handle)->stream;
  const bool queued =
      type == CUDA_R_64F ? Queue<kDouble>(stream, work) : Queue<kFloat>(stream, work);
  return queued ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

inline bool TypesAreFine(cudaDataType a, cudaDataType compute) {
  return a == compute && (a == CUDA_R_64F || a == CUDA_R_32F);
}

// Scratch memory of the requested size; the device's part is written to when the work runs.
inline bool ScratchIsFine(int64_t n, const void* device, size_t bytes, void* host,
                          size_t host_bytes) {
  if (device == nullptr || host == nullptr || reinterpret_cast<uintptr_t>(device) % 256 != 0 ||
      bytes < static_cast<size_t>(n * kWork) || host_bytes < static_cast<size_t>(n * kHostWork)) {
    return false;
  }
  std::memset(host, 0xFF, host_bytes);
  return true;
}

// Sets the functions for QR decompositions; for eigenvalues, singular values, and products.
void AddQr(cuda::SolverApi& api);
void AddDecompositions(cuda::SolverApi& api);

}  // namespace firn::fake

#endif  // FIRN_TESTS_DEVICE_FAKE_CUSOLVER_H_

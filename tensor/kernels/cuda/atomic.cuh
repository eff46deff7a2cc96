#ifndef FIRN_TENSOR_KERNELS_CUDA_ATOMIC_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ATOMIC_CUH_

// What threads of a kernel may do to one place in memory at once. On the host, where a stand-in for
// the device runs kernels in one thread, plain reads and writes.

#include <cstdint>

#include "device/simd.h"

namespace firn::cuda {

// Puts `value` there and returns what was there.
FIRN_HOST_DEVICE inline int64_t AtomicExchange(int64_t* p, int64_t value) {
#if defined(__CUDA_ARCH__)
  return static_cast<int64_t>(
      atomicExch(reinterpret_cast<unsigned long long*>(p), static_cast<unsigned long long>(value)));
#else
  const int64_t old = *p;
  *p = value;
  return old;
#endif
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ATOMIC_CUH_

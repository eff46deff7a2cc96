#ifndef FIRN_TENSOR_KERNELS_CUDA_ATOMIC_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_ATOMIC_CUH_

// Operations that several threads of a kernel may do at once on one place in memory. On the host,
// where a stand-in for the device runs kernels in one thread, plain reads and writes.

#include <cstdint>

#include "firn/device/macros.h"

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

// Puts 1 where 0 is, and returns whether this thread did.
FIRN_HOST_DEVICE inline bool AtomicClaim(uint32_t* p) {
#if defined(__CUDA_ARCH__)
  // A plain read first: where many threads find the place taken, they need not take turns.
  return *static_cast<volatile uint32_t*>(p) == 0 && atomicCAS(p, 0u, 1u) == 0;
#else
  if (*p != 0) return false;
  *p = 1;
  return true;
#endif
}

// Writes 1 for the host to see, after everything that this thread wrote before.
FIRN_HOST_DEVICE inline void PublishToHost(uint32_t* p) {
#if defined(__CUDA_ARCH__)
  __threadfence_system();
#endif
  *static_cast<volatile uint32_t*>(p) = 1;
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_ATOMIC_CUH_

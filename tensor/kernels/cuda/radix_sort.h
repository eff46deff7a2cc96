#ifndef FIRN_TENSOR_KERNELS_CUDA_RADIX_SORT_H_
#define FIRN_TENSOR_KERNELS_CUDA_RADIX_SORT_H_

// Sorting by digits: CUB's radix sort, which ships with the CUDA toolkit, for real devices.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// Bits [begin, end) of a number, the lowest first.
struct RadixBits {
  int begin = 0, end = 0;

  int digits() const { return (end - begin + 7) / 8; }  // as CUB takes them
};
// The bits of numbers up to n; 0 where n is 0 or negative.
inline unsigned BitsUpTo(int64_t n) {
  return n < 1 ? 0 : static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(n)));
}

// Bytes that RadixSort wants beside its two arrays; 0 without a device. May make the device the
// thread's current one, as calls of the libraries do.
size_t RadixWorkspace(Device device, int64_t n);

// Sorts from[0..n) by these bits to `to`; numbers with equal bits keep their order. The workspace
// has the `bytes` that RadixWorkspace said. Requires: HasLibraries(queue.device).
absl::Status RadixSort(const Queue& queue, const uint64_t* from, uint64_t* to, int64_t n,
                       RadixBits bits, void* workspace, size_t bytes);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_RADIX_SORT_H_

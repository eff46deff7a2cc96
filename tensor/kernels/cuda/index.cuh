#ifndef FIRN_TENSOR_KERNELS_CUDA_INDEX_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_INDEX_CUH_

// What kernels that read or write where an integer tensor says have in common; for the indices
// themselves see index_range.cuh.

#include <cstdint>
#include <vector>

#include "device/simd.h"
#include "tensor/kernels/cuda/divide.cuh"
#include "tensor/op.h"
#include "tensor/shape.h"

namespace firn::cuda {

// Where element i of a row-major array of dimensions lies in memory that these strides describe.
struct Steps {
  int rank = 0;
  int64_t sizes[kMaxRank] = {}, strides[kMaxRank] = {};

  // Appends a dimension, as part of the one before if it continues that.
  void Add(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (rank > 0 && strides[rank - 1] == stride * size) {
      sizes[rank - 1] *= size;
      strides[rank - 1] = stride;
    } else {
      sizes[rank] = size;
      strides[rank++] = stride;
    }
  }

  FIRN_HOST_DEVICE int64_t operator()(int64_t i) const {
    int64_t offset = 0;
#pragma unroll 1  // rarely more than one round
    for (int d = rank - 1; d > 0; --d) {
      offset += TakeDigit(i, sizes[d]) * strides[d];
    }
    return offset + i * (rank > 0 ? strides[0] : 0);
  }
};

// The two kernels of an operation that reads most of its inputs' elements once: one takes them
// where they lie if `supports` says so, the other in row-major order.
inline std::vector<Kernel> StridedAndDenseKernels(absl::Status (*supports)(const KernelQuery&),
                                                  size_t (*workspace)(const KernelQuery&),
                                                  absl::Status (*run)(KernelContext&)) {
  return {{.name = "strided",
           .device = DeviceType::kCuda,
           .supports = supports,
           .workspace = workspace,
           .run = run,
           .takes = Takes::kStrided},
          {.name = "loop", .device = DeviceType::kCuda, .workspace = workspace, .run = run}};
}

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_INDEX_CUH_

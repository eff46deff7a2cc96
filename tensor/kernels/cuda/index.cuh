#ifndef FIRN_TENSOR_KERNELS_CUDA_INDEX_CUH_
#define FIRN_TENSOR_KERNELS_CUDA_INDEX_CUH_

// Parts shared by kernels that read or write at the places that an integer tensor gives; for the
// indices themselves see index_range.cuh.

#include <cstdint>
#include <vector>

#include "firn/tensor/kernels/cuda/steps.cuh"
#include "firn/tensor/op.h"
#include "firn/tensor/shape.h"

namespace firn::cuda {

// The two kernels of an operation that reads most of its inputs' elements once: one takes them in
// any layout if `supports` is OK, the other in row-major order.
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

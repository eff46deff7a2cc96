#ifndef FIRN_TENSOR_KERNELS_CUDA_LAUNCH_H_
#define FIRN_TENSOR_KERNELS_CUDA_LAUNCH_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "device/internal/cuda_api.h"
#include "tensor/op.h"

namespace firn::cuda {

// Where a kernel is queued: for an operation's, what its context says.
struct Queue {
  Queue(const KernelContext& k);  // NOLINT: implicit, so that kernels hand on their context
  explicit Queue(Device on) : device(on) {}

  Device device;
  Stream* stream = nullptr;  // null: the device's own
};

absl::Status Launch(const Queue& queue, const firn::internal::CudaLaunch& launch);

// The handle (a cudaStream_t) of a queue's stream, for CUDA's libraries.
absl::StatusOr<void*> StreamHandle(const Queue& queue);

// Whether cuBLAS, cuDNN and CUB can be used for a call: not with a stand-in for the device.
bool HasLibraries(Device device);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_LAUNCH_H_

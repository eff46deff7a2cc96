#ifndef FIRN_TENSOR_KERNELS_CUDA_LAUNCH_H_
#define FIRN_TENSOR_KERNELS_CUDA_LAUNCH_H_

#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/device.h"
#include "firn/device/internal/cuda_api.h"
#include "firn/device/internal/cuda_faults.h"
#include "firn/tensor/op.h"

namespace firn::cuda {

// The queue of a kernel; for an operation's kernel its context gives it.
struct Queue {
  Queue(const KernelContext& k);  // NOLINT: implicit, so that kernels hand on their context
  explicit Queue(Device on, Stream* own = nullptr) : device(on), stream(own) {}

  Device device;
  Stream* stream = nullptr;  // null: the device's own
};

absl::Status Launch(const Queue& queue, const firn::inner::internal::CudaLaunch& launch);

// Queues kCall(argument, stream), a call to a library that queues its work on `stream` (a
// cudaStream_t). It is made with a copy of the argument, now or a little later and as often as the
// program repeats itself (see device/internal/cuda_replay.h): memory to which the argument points
// must live on.
template <auto kCall, class Argument>
absl::Status Call(const Queue& queue, const char* name, Argument argument) {
  static_assert(std::is_trivially_copyable_v<Argument>);
  __builtin_clear_padding(&argument);  // calls are compared byte by byte
  return Launch(queue, {.name = name,
                        .kernel = nullptr,
                        .blocks = 0,
                        .threads = 0,
                        .shared_bytes = 0,
                        .argument = &argument,
                        .argument_bytes = sizeof(argument),
                        .on_host = nullptr,
                        .call = [](const void* a, void* stream) -> absl::Status {
                          return kCall(*static_cast<const Argument*>(a), stream);
                        }});
}

// The handle of a queue's stream, for work that can be neither a kernel nor a Call: a repeated
// recording ends before it.
absl::StatusOr<void*> StreamHandle(const Queue& queue);

// The place where kernels of the device note an index outside its bounds; null where launches fail
// anyway.
firn::inner::internal::CudaIndexFault* IndexFaultOf(const Queue& queue);

// Whether cuBLAS and cuDNN can be used for a call: not with a stand-in for the device.
bool HasLibraries(Device device);

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_LAUNCH_H_

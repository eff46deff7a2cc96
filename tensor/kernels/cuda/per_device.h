#ifndef FIRN_TENSOR_KERNELS_CUDA_PER_DEVICE_H_
#define FIRN_TENSOR_KERNELS_CUDA_PER_DEVICE_H_

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/device.h"
#include "firn/device/status_macros.h"

namespace firn::cuda {

// Objects that a CUDA library needs once for each device (a handle, its plans), made at first use
// and never destroyed. Only for .cc files of CUDA kernels. Thread-safe; found again without a lock.
template <class Context>
class PerDevice {
 public:
  // Makes the device the thread's current one, which the libraries' calls use. `init`
  // (absl::Status(Context&)) completes a new context. A stand-in has a `set_device` of its own.
  template <class Init>
  absl::StatusOr<Context*> Get(Device device, const Init& init,
                               decltype(&cudaSetDevice) set_device = cudaSetDevice) {
    if (const cudaError_t code = set_device(device.index); code != cudaSuccess) {
      return Internal("cudaSetDevice: ", cudaGetErrorString(code));
    }
    std::atomic<Context*>& place = contexts_[static_cast<size_t>(device.index)];
    if (Context* const made = place.load(std::memory_order_acquire)) return made;
    const std::lock_guard lock(mutex_);
    if (Context* const made = place.load(std::memory_order_acquire)) return made;
    auto context = std::make_unique<Context>();
    FIRN_RETURN_IF_ERROR(init(*context));
    place.store(context.get(), std::memory_order_release);
    return context.release();
  }

 private:
  std::mutex mutex_;
  std::array<std::atomic<Context*>, 128> contexts_{};
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_PER_DEVICE_H_

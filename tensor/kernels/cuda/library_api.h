#ifndef FIRN_TENSOR_KERNELS_CUDA_LIBRARY_API_H_
#define FIRN_TENSOR_KERNELS_CUDA_LIBRARY_API_H_

#include <atomic>

#include "firn/device/device.h"
#include "firn/tensor/kernels/cuda/launch.h"

namespace firn::cuda {

// Which functions of a CUDA library a device's kernels call. `Api` is a struct of pointers that are
// the library's own by default. Thread-safe.
template <class Api>
class LibraryApi {
 public:
  // The functions; null where there is a stand-in for the device but none for the library.
  static const Api* Of(Device device) {
    static constexpr Api kOwn;
    return HasLibraries(device) ? &kOwn : stand_in_.load(std::memory_order_acquire);
  }
  // For tests (tests/device/fake_libraries.h): sets a stand-in for the library; null removes it.
  static void SetStandIn(const Api* api) { stand_in_.store(api, std::memory_order_release); }

 private:
  static inline std::atomic<const Api*> stand_in_ = nullptr;
};

}  // namespace firn::cuda

#endif  // FIRN_TENSOR_KERNELS_CUDA_LIBRARY_API_H_

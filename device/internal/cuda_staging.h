#ifndef FIRN_DEVICE_INTERNAL_CUDA_STAGING_H_
#define FIRN_DEVICE_INTERNAL_CUDA_STAGING_H_

#include <array>
#include <cstddef>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/internal/cuda_api.h"

namespace firn::inner::internal {

// Copies between ordinary host memory and one device through eight pinned buffers of 2 MiB, which
// take turns; small copies share one. Thread-safe.
class CudaStaging {
 public:
  CudaStaging(CudaApi& api, int device) : api_(api), device_(device) {}
  ~CudaStaging();
  CudaStaging(const CudaStaging&) = delete;
  CudaStaging& operator=(const CudaStaging&) = delete;

  // Queues the copy on `stream` and returns when `from` was read; the caller may change it then.
  // Waits for the device only where nearly 16 MiB are on their way.
  absl::Status ToDevice(void* to, const void* from, size_t bytes, void* stream);

  // Copies behind what is queued on `stream`, and waits for it.
  absl::Status ToHost(void* to, const void* from, size_t bytes, void* stream);

 private:
  struct Buffer {
    void* data = nullptr;
    void* event = nullptr;
    bool busy = false;       // a copy from it may not be done yet
    size_t used = 0;         // bytes of it that copies to the device lie in
    void* stream = nullptr;  // the one stream of these copies: the event is behind them on no other
  };

  // The next buffer, empty, and the one in turn with room for `bytes` more on the stream.
  absl::StatusOr<Buffer*> Next();
  absl::StatusOr<Buffer*> WithRoom(size_t bytes, void* stream);
  absl::Status Prepare(Buffer& buffer);
  absl::Status Record(Buffer& buffer, void* stream);

  CudaApi& api_;
  const int device_;
  std::mutex mutex_;  // guards everything below
  std::array<Buffer, 8> buffers_;
  size_t turn_ = 0;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_STAGING_H_

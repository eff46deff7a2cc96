#ifndef FIRN_DEVICE_INTERNAL_CUDA_CONTEXT_H_
#define FIRN_DEVICE_INTERNAL_CUDA_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/context.h"
#include "firn/device/internal/cuda_allocator.h"
#include "firn/device/internal/cuda_api.h"
#include "firn/device/internal/cuda_faults.h"
#include "firn/device/internal/cuda_staging.h"

namespace firn::inner::internal {

// What Firn holds of one CUDA device: its stream (not the default stream, so that no other code's
// work waits for it), its memory and its copies.
class CudaDeviceContext final : public DeviceContext {
 public:
  static absl::StatusOr<std::unique_ptr<CudaDeviceContext>> Make(CudaApi& api, int index);
  ~CudaDeviceContext() override;

  Device device() const override { return Device::Cuda(index_); }
  Stream& stream() override { return *stream_; }
  Allocator& allocator() override { return allocator_; }
  absl::Status Synchronize() override;
  absl::StatusOr<std::unique_ptr<Event>> NewEvent() override;
  absl::StatusOr<std::unique_ptr<Stream>> NewStream() override;
  absl::StatusOr<std::unique_ptr<Recording>> Record(
      absl::FunctionRef<absl::Status()> queue) override;
  absl::Status CopyFromHost(void* to, const void* from, size_t bytes) override;
  absl::Status CopyFromHost(void* to, const void* from, size_t bytes, Stream& on) override;
  absl::Status CopyToHost(void* to, const void* from, size_t bytes) override;
  absl::Status CopyFromDevice(void* to, DeviceContext& source, const void* from,
                              size_t bytes) override;

  CudaApi& api() const { return api_; }

  // Queues a kernel on `stream`, one of this device. With FIRN_SYNC_AFTER_LAUNCH it waits for the
  // kernel and returns its failure, which otherwise a later call reports.
  absl::Status Launch(const CudaLaunch& launch, Stream& stream);

  // The handle of stream() after all earlier launches have been put into its queue: launches may be
  // held back (see CudaReplay).
  absl::StatusOr<void*> Handle();

  // Zeros, behind what is queued on stream().
  absl::Status SetZero(void* data, size_t bytes);

  // Whether what is queued on stream() now is recorded.
  bool recording() const { return recording_; }

  // The next wait for the device returns this error: work queued before has not done what it
  // should. From any thread.
  void Fail(const absl::Status& why) { faults_->Fail(why); }

  // The place where kernels note an index outside its bounds. Whatever waits for the device next (a
  // copy to the host, Synchronize of the context, a stream or an event) returns it as an error.
  CudaIndexFault* index_fault() const { return faults_->record(); }

 private:
  CudaDeviceContext(CudaApi& api, int index, std::unique_ptr<CudaFaults> faults,
                    std::unique_ptr<Stream> stream)
      : api_(api),
        index_(index),
        stream_(std::move(stream)),
        allocator_(api, index, [this] { static_cast<void>(Handle()); }),
        staging_(api, index),
        faults_(std::move(faults)),
        side_staging_(api, index) {}

  CudaApi& api_;
  const int index_;
  std::unique_ptr<Stream> stream_;
  CudaCachingAllocator allocator_;
  CudaStaging staging_;
  std::unique_ptr<CudaFaults> faults_;  // for streams and events of this device
  bool recording_ = false;
  CudaStaging side_staging_;  // of other streams, so that nobody waits for their large copies
};

// The context behind a Device that is a CUDA device, as CudaContext (device/context.h).
absl::StatusOr<CudaDeviceContext*> CudaDeviceOf(Device device);

// For tests: while one is in scope, CUDA devices are those of `api`. Contexts made meanwhile end
// with it, so no tensor on them may outlive it. Not thread-safe, does not nest.
class ScopedCudaApi {
 public:
  explicit ScopedCudaApi(CudaApi& api);
  ~ScopedCudaApi();
  ScopedCudaApi(const ScopedCudaApi&) = delete;
  ScopedCudaApi& operator=(const ScopedCudaApi&) = delete;
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_CONTEXT_H_

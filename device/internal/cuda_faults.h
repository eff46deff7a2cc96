#ifndef FIRN_DEVICE_INTERNAL_CUDA_FAULTS_H_
#define FIRN_DEVICE_INTERNAL_CUDA_FAULTS_H_

#include <atomic>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "firn/device/device.h"
#include "firn/device/internal/cuda_api.h"

namespace firn::inner::internal {

// An argument of an operation that holds indices, or matrices whose properties kernels check: for
// these, `failure` says what is wrong with a matrix. Named by its address, so it must live on.
struct CudaIndexSite {
  const char* operation;
  const char* argument;
  const char* failure = nullptr;  // "is singular"
};

// The first index outside its bounds, or unsuitable matrix, that a device's kernels found. It lies
// in pinned memory, which device and host both see: the host reads it where it has waited for the
// device anyway.
struct CudaIndexFault {
  uint32_t claimed;  // 1 once a thread has set out to write what follows
  uint32_t written;  // 1 when it has
  const CudaIndexSite* site;
  int64_t index, low, high;  // not in [low, high); or a batch's matrix, and its row
};

// The record of one device. Thread-safe.
class CudaFaults {
 public:
  explicit CudaFaults(CudaApi& api) : api_(api) {}
  ~CudaFaults();
  CudaFaults(const CudaFaults&) = delete;
  CudaFaults& operator=(const CudaFaults&) = delete;

  // Before any other call. Errors: ResourceExhausted.
  absl::Status Allocate();

  // The place where kernels of the device write; it stays the same while this lives.
  CudaIndexFault* record() const { return record_; }

  // Returns and forgets the fault of work that was waited for: OutOfRange for an index,
  // InvalidArgument for a matrix; else OK.
  absl::Status Take(Device device);

  // Sets the error that the next Take returns: work queued before has not done what it should.
  void Fail(const absl::Status& why);

 private:
  absl::Status TakeFailure();

  CudaApi& api_;
  CudaIndexFault* record_ = nullptr;
  std::atomic<bool> has_failed_ = false;
  absl::Mutex mutex_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_INTERNAL_CUDA_FAULTS_H_

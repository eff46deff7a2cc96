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

// An argument of an operation that holds indices, or matrices of which kernels find out what they
// are: `failure` then says what is wrong with one. Named by its address, so it must live on.
struct CudaIndexSite {
  const char* operation;
  const char* argument;
  const char* failure = nullptr;  // "is singular"
};

// The first index outside its bounds, or matrix that an operation does not take, that a device's
// kernels came across. It lies in pinned memory, which device and host both see: the host reads it
// where it has waited for the device anyway.
struct CudaIndexFault {
  uint32_t claimed;  // 1 once a thread has set out to write what follows
  uint32_t written;  // 1 when it has
  const CudaIndexSite* site;
  int64_t index, low, high;  // not in [low, high); or the matrix of a batch, and its row
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

  // Where kernels of the device write; the same place as long as this lives.
  CudaIndexFault* record() const { return record_; }

  // OutOfRange for a fault of work that was waited for, which is forgotten with that, or
  // InvalidArgument for a matrix; else OK.
  absl::Status Take(Device device);

  // What the next Take gives: work queued before has not done what it should.
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

// `written` goes from 1 to 0 here and from 0 to 1 in a kernel that holds the claim, so what one
// side reads the other does not write. Faults between the two steps of Take are lost, as all but
// the first one are.
#include "firn/device/internal/cuda_faults.h"

#include <atomic>
#include <new>
#include <utility>

#include "firn/device/internal/cuda_status.h"
#include "firn/device/status_macros.h"

namespace firn::inner::internal {

CudaFaults::~CudaFaults() {
  if (record_ != nullptr) static_cast<void>(api_.FreePinned(record_));
}

absl::Status CudaFaults::Allocate() {
  void* data = nullptr;
  FIRN_RETURN_IF_ERROR(
      CudaStatus(api_, api_.MallocPinned(sizeof(CudaIndexFault), &data), "cudaMallocHost"));
  record_ = new (data) CudaIndexFault{};
  return absl::OkStatus();
}

void CudaFaults::Fail(const absl::Status& why) {
  const absl::MutexLock lock(&mutex_);
  failure_.Update(why);
  has_failed_.store(true, std::memory_order_release);
}

absl::Status CudaFaults::TakeFailure() {
  const absl::MutexLock lock(&mutex_);
  has_failed_.store(false, std::memory_order_release);
  return std::exchange(failure_, absl::OkStatus());
}

absl::Status CudaFaults::Take(Device device) {
  if (has_failed_.load(std::memory_order_acquire)) [[unlikely]]
    return TakeFailure();
  const std::atomic_ref<uint32_t> written(record_->written);
  if (written.load(std::memory_order_acquire) == 0) [[likely]]
    return absl::OkStatus();
  if (written.exchange(0, std::memory_order_acq_rel) == 0) return absl::OkStatus();
  const CudaIndexFault fault = *record_;
  std::atomic_ref<uint32_t>(record_->claimed).store(0, std::memory_order_release);
  if (fault.site->failure != nullptr) {
    return InvalidArgument(fault.site->operation, ": matrix ", fault.index, " of ",
                           fault.site->argument, " ", fault.site->failure, " (row ", fault.low,
                           "); found on ", device.ToString(), ", in work queued before");
  }
  return OutOfRange(fault.site->operation, ": ", fault.site->argument, " ", fault.index,
                    " is outside [", fault.low, ", ", fault.high, "); it was left out on ",
                    device.ToString(), ", in work queued before");
}

}  // namespace firn::inner::internal

// Error codes as statuses. The last launches are kept in a ring of names that any thread writes
// without a lock: a wrong order in such a last message does no harm.
#include "firn/device/internal/cuda_status.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "firn/device/check.h"
#include "firn/device/status_macros.h"

namespace firn::inner::internal {
namespace {

constexpr size_t kRemembered = 16;
std::array<std::atomic<const char*>, kRemembered> last_launches{};
std::atomic<uint64_t> launches = 0;

}  // namespace

void NoteLaunch(const char* name) {
  const uint64_t at = launches.fetch_add(1, std::memory_order_relaxed);
  last_launches[at % kRemembered].store(name, std::memory_order_relaxed);
}

std::string LastLaunches() {
  std::string names;
  const uint64_t end = launches.load(std::memory_order_relaxed);
  for (uint64_t i = end < kRemembered ? 0 : end - kRemembered; i < end; ++i) {
    const char* const name = last_launches[i % kRemembered].load(std::memory_order_relaxed);
    if (name != nullptr) names += Message(names.empty() ? "" : ", then ", name);
  }
  return names.empty() ? "none" : names;
}

absl::Status CudaStatus(const CudaApi& api, int code, const char* call) {
  if (code == 0) return absl::OkStatus();
  const std::string text = Message(call, " failed: ", api.Explain(code));
  switch (api.Classify(code)) {
    case CudaFailure::kOutOfMemory:
      return ResourceExhausted(text);
    case CudaFailure::kSticky:
      FIRN_CHECK(false,
                 Message(text,
                         "; the device is lost to this process. Kernels launched"
                         " last: ",
                         LastLaunches(), " (FIRN_SYNC_AFTER_LAUNCH=1 tells which one failed)"));
      break;
    case CudaFailure::kOther:
      break;
  }
  return Internal(text);
}

}  // namespace firn::inner::internal

// The CUDA devices of the process: found at the first question, their contexts made at first use
// and never destroyed (only a test's stand-in ends). The way to an existing context takes no lock.
#include "firn/device/cuda.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "firn/device/check.h"
#include "firn/device/context.h"
#include "firn/device/internal/cuda_api.h"
#include "firn/device/internal/cuda_context.h"
#include "firn/device/internal/cuda_status.h"
#include "firn/device/parse_device.h"
#include "firn/device/status_macros.h"
#include "firn/device/usable_device.h"

namespace firn {
namespace {

using internal::CudaApi;
using internal::CudaDeviceContext;

class Devices {
 public:
  static Devices& Get() {
    static Devices* const devices = new Devices(nullptr);
    Devices* const replaced = replacement.load(std::memory_order_acquire);
    return replaced != nullptr ? *replaced : *devices;
  }

  explicit Devices(CudaApi* api) : api_(api) {
    if (api_ == nullptr) api_ = internal::FindCudaRuntime(&reason_);
    compiled_in_ = api_ != nullptr;
    if (api_ == nullptr) return;
    const int code = api_->CountDevices(&count_);
    if (code != 0) {
      reason_ = api_->Explain(code);
      count_ = 0;
    } else if (count_ == 0) {
      reason_ = "there is no CUDA device";
    }
    count_ = std::min(count_, static_cast<int>(contexts_.size()));
  }

  int count() const { return count_; }
  bool compiled_in() const { return compiled_in_; }
  const std::string& reason() const { return reason_; }
  std::string Describe(int index) const {
    if (index < 0 || index >= count_) return "";
    std::string description;
    const int code = api_->DescribeDevice(index, &description);
    return code == 0 ? description : api_->Explain(code);
  }

  absl::StatusOr<CudaDeviceContext*> Context(int index) {
    if (index >= 0 && index < count_) {
      CudaDeviceContext* const made =
          ready_[static_cast<size_t>(index)].load(std::memory_order_acquire);
      if (made != nullptr) [[likely]]
        return made;
    }
    return MakeContext(index);
  }

  static std::atomic<Devices*> replacement;

 private:
  absl::StatusOr<CudaDeviceContext*> MakeContext(int index) {
    FIRN_RETURN_IF(
        index < 0 || index >= count_,
        Unavailable(
            "device cuda:", index, " cannot be used: ",
            count_ == 0 ? reason_ : internal::Message("there are ", count_, " CUDA devices")));
    const auto i = static_cast<size_t>(index);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (contexts_[i] == nullptr) {
      FIRN_ASSIGN_OR_RETURN(contexts_[i], CudaDeviceContext::Make(*api_, index));
      ready_[i].store(contexts_[i].get(), std::memory_order_release);
    }
    return contexts_[i].get();
  }

  CudaApi* api_;
  int count_ = 0;
  bool compiled_in_ = false;
  std::string reason_;
  std::mutex mutex_;  // guards contexts_
  std::array<std::unique_ptr<CudaDeviceContext>, 128> contexts_;
  std::array<std::atomic<CudaDeviceContext*>, 128> ready_{};
};

constinit std::atomic<Devices*> Devices::replacement = nullptr;

}  // namespace

bool CudaAvailable() { return Devices::Get().count() > 0; }

std::string CudaUnavailableReason() { return Devices::Get().reason(); }

int CudaDeviceCount() { return Devices::Get().count(); }
std::string CudaDeviceDescription(int index) { return Devices::Get().Describe(index); }

absl::StatusOr<DeviceContext*> CudaContext(int index) { return Devices::Get().Context(index); }

absl::StatusOr<Device> UsableDevice(Device wanted) {
  const Devices& devices = Devices::Get();
  if (wanted.is_cuda() && devices.compiled_in() && devices.count() == 0) {
    static const bool said = [&] {
      std::fprintf(stderr, "firn: running on the CPU, not on %s: %s\n", wanted.ToString().c_str(),
                   devices.reason().c_str());
      return true;
    }();
    static_cast<void>(said);
    return Device::Cpu();
  }
  FIRN_RETURN_IF_ERROR(GetDeviceContext(wanted).status());
  return wanted;
}

absl::StatusOr<Device> UsableDevice(std::string_view text) {
  FIRN_ASSIGN_OR_RETURN(const Device wanted, ParseDevice(text));
  return UsableDevice(wanted);
}

namespace inner::internal {

absl::StatusOr<CudaDeviceContext*> CudaDeviceOf(Device device) {
  FIRN_RETURN_IF(!device.is_cuda(), InvalidArgument(device.ToString(), " is no cuda device"));
  return Devices::Get().Context(device.index);
}

ScopedCudaApi::ScopedCudaApi(CudaApi& api) {
  FIRN_CHECK(Devices::replacement.load() == nullptr, "ScopedCudaApi does not nest");
  Devices::replacement.store(new Devices(&api), std::memory_order_release);
}

ScopedCudaApi::~ScopedCudaApi() {
  delete Devices::replacement.exchange(nullptr, std::memory_order_acq_rel);
}

}  // namespace inner::internal
}  // namespace firn

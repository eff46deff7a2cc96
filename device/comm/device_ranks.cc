// A rank that is alone copies its own elements, on the device's stream.

#include "firn/device/comm/device_ranks.h"

#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/nccl_ranks.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"

namespace firn::comm {
namespace {

// The call is done as soon as it is queued.
class Queued : public Pending {
 public:
  absl::Status Wait() override { return absl::OkStatus(); }
};

class AloneOnDevice : public Communicator {
 public:
  explicit AloneOnDevice(Device device) : Communicator(0, 1, 0), device_(device) {}

  Device device() const override { return device_; }
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int color, int) override {
    if (color < 0) return nullptr;
    return std::make_unique<AloneOnDevice>(device_);
  }
  void Abort(std::string_view why) override {
    failed_.Update(absl::AbortedError(absl::StrCat("rank 0 gave up: ", std::string(why))));
  }

 private:
  absl::StatusOr<std::unique_ptr<Pending>> StartChecked(const Collective& call) override {
    FIRN_RETURN_IF_ERROR(failed_);
    if (call.in != call.out && call.count != 0) {
      const auto bytes = static_cast<size_t>(call.count * BytesOf(call.element));
      FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(device_));
      FIRN_RETURN_IF_ERROR(context->CopyFromDevice(call.out, *context, call.in, bytes));
    }
    return std::make_unique<Queued>();
  }

  const Device device_;
  absl::Status failed_;
};

}  // namespace

absl::StatusOr<Communicator*> DeviceRanks(Communicator& host, Device device) {
  if (device == host.device()) return &host;
  std::unique_ptr<Communicator>& there = host.on_device();
  if (there != nullptr && there->device() == device) return there.get();
  if (host.size() == 1) {
    there = std::make_unique<AloneOnDevice>(device);
    return there.get();
  }
  FIRN_RETURN_IF(there != nullptr,
                 InvalidArgument("rank ", host.rank(), " has exchanged memory of ",
                                 there->device().ToString(), " with the others, now of ",
                                 device.ToString(), " (want one device a communicator)"));
  FIRN_ASSIGN_OR_RETURN(there, NcclRanks(host, device));
  return there.get();
}

}  // namespace firn::comm

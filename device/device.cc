// Names of devices: "cpu" and "cuda:N", written by ToString and read by ParseDevice.
#include "firn/device/device.h"

#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "firn/device/parse_device.h"
#include "firn/device/status_macros.h"

namespace firn {

const char* DeviceTypeName(DeviceType type) {
  const char* const word = inner::WordFor(type);
  return word != nullptr ? word : "?";
}

std::string Device::ToString() const {
  return is_cpu() ? "cpu" : internal::Message(DeviceTypeName(type), ":", static_cast<int>(index));
}

absl::StatusOr<Device> ParseDevice(std::string_view text) {
  if (text == "cpu") return Device::Cpu();
  if (text == "cuda") return Device::Cuda();
  constexpr std::string_view kPrefix = "cuda:";
  int index = -1;
  if (text.starts_with(kPrefix)) {
    const std::string_view digits = text.substr(kPrefix.size());
    const bool is_number = !digits.empty() && digits.size() <= 3 &&
                           digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) index = std::stoi(std::string(digits));
  }
  FIRN_RETURN_IF(index < 0 || index > 127,
                 InvalidArgument("device: got \"", text,
                                 "\", want \"cpu\", \"cuda\" or \"cuda:N\""
                                 " with N from 0 to 127"));
  return Device::Cuda(index);
}

std::ostream& operator<<(std::ostream& os, const Device& device) { return os << device.ToString(); }

}  // namespace firn

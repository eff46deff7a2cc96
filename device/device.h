#ifndef FIRN_DEVICE_DEVICE_H_
#define FIRN_DEVICE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <utility>

#include "firn/device/enum_words.h"

namespace firn {

// The kind of hardware that owns a piece of memory and runs the kernels that touch it.
enum class DeviceType : uint8_t { kCpu, kCuda };
constexpr auto WordsOf(DeviceType) {
  return inner::EnumWords<DeviceType>({{DeviceType::kCpu, "cpu"}, {DeviceType::kCuda, "cuda"}});
}

// "cpu" or "cuda"; "?" for a number that is no type.
const char* DeviceTypeName(DeviceType type);

// Names one device. A plain value: two bytes, compared and copied freely from any thread; making
// one neither checks that the device exists nor initialises it (GetDeviceContext does both).
struct Device {
  DeviceType type = DeviceType::kCpu;
  int8_t index = 0;  // which one of its type; the CPU has index 0 only

  static constexpr Device Cpu() { return Device{}; }
  static constexpr Device Cuda(int index = 0) {
    return Device{DeviceType::kCuda, static_cast<int8_t>(index)};
  }

  constexpr bool is_cpu() const { return type == DeviceType::kCpu; }
  constexpr bool is_cuda() const { return type == DeviceType::kCuda; }

  // "cpu", "cuda:0". ParseDevice (device/parse_device.h) reads it back.
  std::string ToString() const;

  friend constexpr bool operator==(const Device&, const Device&) = default;

  template <class H>
  friend H AbslHashValue(H h, const Device& d) {
    return H::combine(std::move(h), d.type, d.index);
  }
};

std::ostream& operator<<(std::ostream& os, const Device& device);

}  // namespace firn

template <>
struct std::hash<firn::Device> {
  size_t operator()(const firn::Device& d) const noexcept {
    return (static_cast<size_t>(d.type) << 8) | static_cast<uint8_t>(d.index);
  }
};

#endif  // FIRN_DEVICE_DEVICE_H_

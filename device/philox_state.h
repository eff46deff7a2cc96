#ifndef FIRN_DEVICE_PHILOX_STATE_H_
#define FIRN_DEVICE_PHILOX_STATE_H_

#include <cstdint>

namespace firn {

// A position in a random stream (device/philox.h): one random op gets one and needs nothing else.
struct PhiloxState {
  uint64_t seed = 0;
  uint64_t offset = 0;  // in counters; each gives four 32-bit words

  friend constexpr bool operator==(const PhiloxState&, const PhiloxState&) = default;
};

}  // namespace firn

#endif  // FIRN_DEVICE_PHILOX_STATE_H_

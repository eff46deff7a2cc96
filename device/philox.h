#ifndef FIRN_DEVICE_PHILOX_H_
#define FIRN_DEVICE_PHILOX_H_

#include <cmath>
#include <cstdint>

#include "firn/device/macros.h"
#include "firn/device/philox_state.h"

namespace firn {

namespace inner {
// Philox4x32-10, the counter-based generator of J. K. Salmon, M. A. Moraes, R. O. Dror and D. E.
// Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11: a keyed bijection of 128-bit
// counters. Number i of a stream costs the same as number 0 and needs no state, so what element i
// of a tensor gets does not depend on threads, chunks or the device.

struct PhiloxCounter {
  uint32_t v[4];
};
using PhiloxResult = PhiloxCounter;

// One application of the ten rounds.
FIRN_HOST_DEVICE constexpr PhiloxResult Philox4x32(PhiloxCounter c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c.v[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c.v[2];
    c = {{static_cast<uint32_t>(p1 >> 32) ^ c.v[1] ^ key0, static_cast<uint32_t>(p1),
          static_cast<uint32_t>(p0 >> 32) ^ c.v[3] ^ key1, static_cast<uint32_t>(p0)}};
    key0 += 0x9E3779B9;  // the golden ratio
    key1 += 0xBB67AE85;  // sqrt(3) - 1
  }
  return c;
}
// The four words of counter `index` from the position: words 4 * index to 4 * index + 3 of the
// stream.
FIRN_HOST_DEVICE constexpr PhiloxResult PhiloxAt(const PhiloxState& state, uint64_t index) {
  const uint64_t n = state.offset + index;
  return Philox4x32({{static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), 0, 0}},
                    static_cast<uint32_t>(state.seed), static_cast<uint32_t>(state.seed >> 32));
}

// A float uniform in [0, 1): the upper 24 bits, every value a multiple of 2^-24.
FIRN_HOST_DEVICE constexpr float UniformFloat(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

// A double uniform in [0, 1): the upper 53 bits of the pair, every value a multiple of 2^-53.
FIRN_HOST_DEVICE constexpr double UniformDouble(uint32_t high, uint32_t low) {
  const uint64_t word = (uint64_t{high} << 32) | low;
  return static_cast<double>(word >> 11) * 0x1p-53;
}

template <class T>
struct NormalPair {
  T first, second;
};

// Two independent standard normal numbers by Box and Muller, "A note on the generation of random
// normal deviates", 1958, with 53 bits from each pair of words of one Philox result. The
// logarithm's argument is in (0, 1], so results are finite: at most 8.57 in absolute value. For a
// number here and there; kernels make many by tensor/kernels/random_normal.h.
FIRN_HOST_DEVICE inline NormalPair<double> NormalDoubles(const PhiloxResult& r) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - UniformDouble(r.v[0], r.v[1])));
  const double angle = 6.283185307179586476925 * UniformDouble(r.v[2], r.v[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}
}  // namespace inner

}  // namespace firn

#endif  // FIRN_DEVICE_PHILOX_H_

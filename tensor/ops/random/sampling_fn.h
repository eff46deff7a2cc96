#ifndef FIRN_TENSOR_OPS_RANDOM_SAMPLING_FN_H_
#define FIRN_TENSOR_OPS_RANDOM_SAMPLING_FN_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "firn/device/inner.h"
#include "firn/device/philox.h"

namespace firn {

// Number e of the stream, in [0, 1).
FIRN_HOST_DEVICE inline double UniformAt(const PhiloxState& at, int64_t e) {
  const PhiloxResult r = PhiloxAt(at, static_cast<uint64_t>(e / 2));
  const int half = static_cast<int>(e % 2) * 2;
  return UniformDouble(r.v[half], r.v[half + 1]);
}

// The time when the clock of a category rings, by its weight and a number in [0, 1): never if the
// weight is 0.
FIRN_HOST_DEVICE inline double RingingTime(double weight, double u) {
  const double e = -std::log(1 - u);
  return weight > 0 ? e / weight : std::numeric_limits<double>::infinity();
}

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_SAMPLING_FN_H_

#ifndef FIRN_TENSOR_OPS_RANDOM_DRAWS_FN_H_
#define FIRN_TENSOR_OPS_RANDOM_DRAWS_FN_H_

#include <type_traits>

#include "firn/device/inner.h"
#include "firn/device/philox.h"
#include "firn/tensor/dtype.h"
#include "firn/tensor/ops/random/draws.h"

namespace firn {

// rand's element of type T from a random word, or two for f64. The number in [0, 1) has no more
// bits than T, so that it is never rounded to 1.
template <class T>
struct RandFn {
  using Acc = AccumulatorOf<T>;
  explicit RandFn(const RandAttrs& a)
      : low(static_cast<Acc>(a.low)),
        width(static_cast<Acc>(a.high - a.low)),
        high(static_cast<Acc>(a.high)) {}
  FIRN_HOST_DEVICE T operator()(uint32_t word) const {
    constexpr int kBits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    constexpr float kUnit = 1.0f / static_cast<float>(1 << kBits);
    return Scale(static_cast<float>(word >> (32 - kBits)) * kUnit);
  }
  FIRN_HOST_DEVICE T operator()(uint32_t high_word, uint32_t low_word) const {
    return Scale(UniformDouble(high_word, low_word));
  }
  FIRN_HOST_DEVICE T Scale(Acc u) const {
    const T v = static_cast<T>(low + width * u);
    return static_cast<Acc>(v) < high ? v : static_cast<T>(low);
  }
  Acc low, width, high;
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_RANDOM_DRAWS_FN_H_

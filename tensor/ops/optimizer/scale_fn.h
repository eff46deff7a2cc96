#ifndef FIRN_TENSOR_OPS_OPTIMIZER_SCALE_FN_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_SCALE_FN_H_

#include "firn/device/inner.h"
#include "firn/device/macros.h"
#include "firn/tensor/ops/optimizer/scale.h"

namespace firn {

// For an infinity or NaN.
template <class C>
FIRN_HOST_DEVICE FIRN_ALWAYS_INLINE bool IsNotFinite(C x) {
  return x - x != C{0};
}

struct UpdateLossScaleFn {
  UpdateLossScaleAttrs a;
  float* scale;
  int64_t* good_steps;
  bool* skipped;
  const bool* found;

  FIRN_HOST_DEVICE void operator()(int64_t) const {
    *skipped = *found;
    if (*found) {
      // A scale that is already below the least stays.
      const auto lowered = static_cast<float>(*scale * a.backoff_factor);
      const auto least = static_cast<float>(a.min_scale);
      if (lowered >= least) {
        *scale = lowered;
      } else if (*scale > least) {
        *scale = least;
      }
      *good_steps = 0;
    } else if (++*good_steps >= a.growth_interval) {
      const auto grown = static_cast<float>(*scale * a.growth_factor);
      if (grown - grown == 0) *scale = grown;  // finite
      *good_steps = 0;
    }
  }
};

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_SCALE_FN_H_

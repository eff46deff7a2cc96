#ifndef FIRN_TENSOR_OPS_OPTIMIZER_SCALE_H_
#define FIRN_TENSOR_OPS_OPTIMIZER_SCALE_H_

#include <cstdint>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
// Divides all of `grads` by `scale` (0-d, floating) in place, each element multiplied by 1 / scale.
// Returns whether an element was infinite or NaN before: bool, 0-d
// (torch._amp_foreach_non_finite_check_and_unscale_). Users call optim::LossScaler. Throws unless
// there is a gradient and all are floating and contiguous.
Tensor UnscaleGradients(const std::vector<Tensor>& grads, const Tensor& scale);

struct UpdateLossScaleAttrs {
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;
  double min_scale = 0;
  template <class V>
  void Visit(V& v) {
    v.Field("growth_factor", growth_factor);
    v.Field("backoff_factor", backoff_factor);
    v.Field("growth_interval", growth_interval);
    v.Field("min_scale", min_scale);
  }
};

// The rule of dynamic loss scaling, in place (torch._amp_update_scale_): where `found` (bool) is
// true, scale *= backoff_factor, but not to below min_scale, and good_steps = 0; else good_steps +=
// 1 and, when that is growth_interval, scale *= growth_factor, unless the product is infinite, and
// good_steps = 0. `skipped` (bool) becomes `found`. All are 0-d; `scale` is f32, `good_steps` i64.
void UpdateLossScale(const Tensor& scale, const Tensor& good_steps, const Tensor& skipped,
                     const Tensor& found, const UpdateLossScaleAttrs& attrs = {});
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_OPS_OPTIMIZER_SCALE_H_

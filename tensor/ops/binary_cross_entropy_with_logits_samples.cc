#include <cmath>

#include "tensor/loss_samples.h"
#include "tensor/ops/binary_cross_entropy_with_logits.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(binary_cross_entropy_with_logits) {
  s.Reference(LossReference<LossAttrs>([](double x, double t, const LossAttrs&) {
    const double away = std::log1p(std::exp(-std::abs(x)));  // the rest is max(x, 0)
    return t * (away + std::max(-x, 0.0)) + (1 - t) * (away + std::max(x, 0.0));
  }));
  AddLossSamples(s, LossAttrs{}, [](const Shape& shape, int which) {
    return which == 0 ? Normal(shape) : Uniform(shape, 0.1, 0.9, 2);
  });
  s.Add("far", {Values({-1000, 1000, -90, 90}), Values({0, 1, 1, 0.5})},
        LossAttrs{Reduction::kNone})
      .check_gradient = false;
}

}  // namespace firn::testing

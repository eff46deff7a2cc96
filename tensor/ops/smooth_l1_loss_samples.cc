#include <cmath>

#include "tensor/loss_samples.h"
#include "tensor/ops/smooth_l1_loss.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(smooth_l1_loss) {
  s.Reference(LossReference<SmoothL1LossAttrs>([](double x, double t, const SmoothL1LossAttrs& a) {
    const double d = std::abs(x - t);
    return d < a.beta ? d * d / (2 * a.beta) : d - a.beta / 2;
  }));
  const auto make = [](const Shape& shape, int which) {
    return Normal(shape, static_cast<uint64_t>(which) + 1);
  };
  AddLossSamples(s, SmoothL1LossAttrs{}, make);
  const auto none = [](double beta) { return SmoothL1LossAttrs{Reduction::kNone, beta}; };
  s.Add("beta", {make({7}, 0), make({7}, 1)}, none(0.5));
  s.Add("large beta", {make({7}, 0), make({7}, 1)}, none(50));
  s.Add("beta 0", {make({7}, 0), make({7}, 1)}, none(0));
  s.AddError("beta", {make({7}, 0), make({7}, 1)}, none(-1),
             "beta must be at least 0 and finite, got -1");
}

}  // namespace firn::testing

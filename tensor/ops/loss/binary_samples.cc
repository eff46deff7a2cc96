#include <algorithm>
#include <cmath>

#include "tensor/ops/loss/binary.h"
#include "tensor/ops/loss/loss_samples.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(binary_cross_entropy) {
  s.Function([](In in, const LossAttrs& a) {
    return BinaryCrossEntropy(in[0], in[1], {.reduction = a.reduction});
  });
  s.Reference(LossReference<LossAttrs>([](double p, double t, const LossAttrs&) {
    return -(t * std::max(std::log(p), -100.0) + (1 - t) * std::max(std::log(1 - p), -100.0));
  }));
  AddLossSamples(s, LossAttrs{}, [](const Shape& shape, int which) {
    return Uniform(shape, 0.1, 0.9, static_cast<uint64_t>(which) + 1);
  });
  s.Add("hard", {Values({0, 1, 0, 1, 0.5}), Values({0, 1, 1, 0, 1})}, LossAttrs{Reduction::kNone})
      .check_gradient = false;
  s.AddError("no probability", {Values({0.5, 1.5, 2}), Values({0, 1, 1})}, LossAttrs{},
             "p 1.5 at index 1 is outside [0, 1]");
}

FIRN_REGISTER_SAMPLES(binary_cross_entropy_with_logits) {
  s.Function([](In in, const LossAttrs& a) {
    return BinaryCrossEntropyWithLogits(in[0], in[1], {.reduction = a.reduction});
  });
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

}  // namespace
}  // namespace firn::testing

#include <algorithm>
#include <cmath>

#include "tensor/loss_samples.h"
#include "tensor/ops/binary_cross_entropy.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(binary_cross_entropy) {
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

}  // namespace firn::testing

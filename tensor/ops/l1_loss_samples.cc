#include <cmath>

#include "tensor/loss_samples.h"
#include "tensor/ops/l1_loss.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(l1_loss) {
  s.Reference(LossReference<LossAttrs>(
      [](double x, double t, const LossAttrs&) { return std::abs(x - t); }));
  AddLossSamples(s, LossAttrs{}, [](const Shape& shape, int which) {
    return Uniform(shape, 2 * which, 2 * which + 1.5, static_cast<uint64_t>(which) + 1);
  });
  s.Add("equal", {Values({1, 2, 3}), Values({1, 0, 5})}, LossAttrs{Reduction::kNone})
      .check_gradient = false;
}

}  // namespace firn::testing

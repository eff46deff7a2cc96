#include "tensor/loss_samples.h"
#include "tensor/ops/mse_loss.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(mse_loss) {
  s.Reference(LossReference<LossAttrs>(
      [](double x, double t, const LossAttrs&) { return (x - t) * (x - t); }));
  AddLossSamples(s, LossAttrs{}, [](const Shape& shape, int which) {
    return Uniform(shape, which, which + 2, static_cast<uint64_t>(which) + 1);
  });
}

}  // namespace firn::testing

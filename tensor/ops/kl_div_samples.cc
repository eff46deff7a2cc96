#include <cmath>

#include "tensor/loss_samples.h"
#include "tensor/ops/kl_div.h"

namespace firn::testing {

FIRN_REGISTER_SAMPLES(kl_div) {
  s.Reference(LossReference<KlDivAttrs>([](double log_q, double p, const KlDivAttrs& a) {
    if (a.log_target) return std::exp(p) * (p - log_q);
    return p == 0 ? 0.0 : p * (std::log(p) - log_q);
  }));
  // Above the other distribution everywhere, so that terms do not cancel.
  const auto probabilities = [](const Shape& shape, int which) {
    return which == 0 ? Uniform(shape, -4, -2) : Uniform(shape, 0.3, 1, 2);
  };
  AddLossSamples(s, KlDivAttrs{}, probabilities);
  const auto add = [&](const char* name, Tensor log_q, Tensor p, Reduction r, bool log_target) {
    return &s.Add(name, {std::move(log_q), std::move(p)}, KlDivAttrs{r, log_target});
  };
  const Tensor log_q = Uniform({2, 3}, -4, -2), log_p = Uniform({2, 3}, -1, 0, 2);
  add("of logarithms", log_q, log_p, Reduction::kNone, true);
  add("of logarithms, mean", log_q, log_p, Reduction::kMean, true);
  add("batch mean", log_q, Uniform({2, 3}, 0.3, 1, 2), Reduction::kBatchMean, false);
  add("zeros", Values({-1, -2, -3}), Values({0, 0.5, 0}), Reduction::kNone, false)->check_gradient =
      false;
}

}  // namespace firn::testing

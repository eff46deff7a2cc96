#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/loss/loss_samples.h"
#include "firn/tensor/ops/loss/regression.h"

namespace firn::testing {
namespace {

FIRN_REGISTER_SAMPLES(l1_loss) {
  s.Function([](In in, const LossAttrs& a) { return L1Loss(in[0], in[1], a); });
  s.Reference(LossReference<LossAttrs>(
      [](double x, double t, const LossAttrs&) { return std::abs(x - t); }));
  AddLossSamples(s, LossAttrs{}, [](const Shape& shape, int which) {
    return Uniform(shape, 2 * which, 2 * which + 1.5, static_cast<uint64_t>(which) + 1);
  });
  s.Add("equal", {Values({1, 2, 3}), Values({1, 0, 5})}, LossAttrs{Reduction::kNone})
      .check_gradient = false;
}

FIRN_REGISTER_SAMPLES(mse_loss) {
  s.Function([](In in, const LossAttrs& a) { return MseLoss(in[0], in[1], a); });
  s.Reference(LossReference<LossAttrs>(
      [](double x, double t, const LossAttrs&) { return (x - t) * (x - t); }));
  AddLossSamples(s, LossAttrs{}, [](const Shape& shape, int which) {
    return Uniform(shape, which, which + 2, static_cast<uint64_t>(which) + 1);
  });
}

FIRN_REGISTER_SAMPLES(smooth_l1_loss) {
  s.Function([](In in, const SmoothL1LossAttrs& a) { return SmoothL1Loss(in[0], in[1], a); });
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

FIRN_REGISTER_SAMPLES(kl_div) {
  s.Function([](In in, const KlDivAttrs& a) { return KlDiv(in[0], in[1], a); });
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

struct HuberAttrs {
  Reduction reduction = Reduction::kMean;
  double delta = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("delta", delta);
  }
};

FIRN_REGISTER_COMPOSITE(huber_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "x"}});
  s.Function([](In in, const HuberAttrs& a) {
    return HuberLoss(in[0], in[1], {.reduction = a.reduction, .delta = a.delta});
  });
  s.Reference(LossReference<HuberAttrs>([](double x, double t, const HuberAttrs& a) {
    const double d = std::abs(x - t);
    return d < a.delta ? d * d / 2 : a.delta * (d - a.delta / 2);
  }));
  const auto make = [](const Shape& shape, int which) {
    return Normal(shape, static_cast<uint64_t>(which) + 1);
  };
  AddLossSamples(s, HuberAttrs{}, make);
  for (double delta : {0.5, 2.0, 50.0}) {
    s.Add("delta", {make({7}, 0), make({7}, 1)}, HuberAttrs{Reduction::kNone, delta});
  }
  s.AddError("delta", {make({7}, 0), make({7}, 1)}, HuberAttrs{Reduction::kNone, 0},
             "delta must be above 0 and finite, got 0");
}

struct EpsilonAttrs {
  Reduction reduction = Reduction::kNone;
  double epsilon = 0.5;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("epsilon", epsilon);
  }
};

FIRN_REGISTER_COMPOSITE(epsilon_insensitive_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "y", .same_dtype_as = "x"}});
  s.Function([](In in, const EpsilonAttrs& a) {
    return EpsilonInsensitiveLoss(in[0], in[1], {.epsilon = a.epsilon, .reduction = a.reduction});
  });
  s.Reference(LossReference<EpsilonAttrs>([](double x, double t, const EpsilonAttrs& a) {
    return std::max(0.0, std::abs(x - t) - a.epsilon);
  }));
  AddLossSamples(s, EpsilonAttrs{}, [](const Shape& shape, int which) {
    return Normal(shape, static_cast<uint64_t>(which) + 1);
  });
  s.Add("epsilon 0", {Normal({7}, 1), Normal({7}, 2)}, EpsilonAttrs{Reduction::kNone, 0});
  s.AddError("epsilon", {Normal({7}, 1), Normal({7}, 2)}, EpsilonAttrs{Reduction::kNone, -1},
             "epsilon must be at least 0, got -1");
  s.WithoutVectors("PyTorch does not have it");
}

}  // namespace
}  // namespace firn::testing

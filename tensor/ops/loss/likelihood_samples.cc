#include <algorithm>
#include <cmath>
#include <numbers>

#include "firn/tensor/ops/loss/likelihood.h"
#include "firn/tensor/ops/loss/loss_samples.h"

namespace firn::testing {
namespace {

struct PoissonAttrs {
  Reduction reduction = Reduction::kMean;
  bool log_input = true, full = false;
  double eps = 1e-8;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("log_input", log_input);
    v.Field("full", full);
    v.Field("eps", eps);
  }
};

FIRN_REGISTER_COMPOSITE(poisson_nll_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "target", .same_dtype_as = "x"}});
  s.Function([](In in, const PoissonAttrs& a) {
    return PoissonNllLoss(
        in[0], in[1],
        {.log_input = a.log_input, .full = a.full, .eps = a.eps, .reduction = a.reduction});
  });
  s.Reference(LossReference<PoissonAttrs>([](double x, double t, const PoissonAttrs& a) {
    const double loss = a.log_input ? std::exp(x) - t * x : x - t * std::log(x + a.eps);
    if (!a.full || t <= 1) return loss;
    return loss + t * std::log(t) - t + 0.5 * std::log(2 * std::numbers::pi * t);
  }));
  // Rates around 1 and targets from 2 on: no terms cancel.
  AddLossSamples(s, PoissonAttrs{}, [](const Shape& shape, int which) {
    return which == 0 ? Uniform(shape, -2, -0.5) : Uniform(shape, 2, 4, 2);
  });
  const Tensor rates = Uniform({2, 3}, 0.2, 0.8), counts = Values({0, 1, 2, 3, 0.5, 7}, {2, 3});
  const auto none = Reduction::kNone;
  s.Add("of rates", {rates, counts}, PoissonAttrs{none, false, false, 1e-8});
  s.Add("eps", {rates, counts}, PoissonAttrs{none, false, false, 0.5});
  s.Add("full", {rates, counts}, PoissonAttrs{none, false, true, 1e-8}).check_gradient = false;
  s.Add("full, of logarithms", {rates, Values({0, 0.5, 2, 3, 0.25, 7}, {2, 3})},
        PoissonAttrs{none, true, true, 1e-8});
}

struct GaussianAttrs {
  Reduction reduction = Reduction::kMean;
  bool full = false;
  double eps = 1e-6;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("full", full);
    v.Field("eps", eps);
  }
};

std::vector<RefTensor> GaussianReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const GaussianAttrs& a = attrs.get<GaussianAttrs>();
  RefTensor losses(in[0].shape), total{Shape()};
  const int64_t share = in[2].size() == 0 ? 1 : losses.size() / in[2].size();  // of one variance
  for (int64_t i = 0; i < losses.size(); ++i) {
    const double v = std::max(in[2][i / share], a.eps), d = in[0][i] - in[1][i];
    losses[i] = 0.5 * (std::log(v) + d * d / v);
    if (a.full) losses[i] += 0.5 * std::log(2 * std::numbers::pi);
    total[0] += losses[i];
  }
  if (a.reduction == Reduction::kNone) return {losses};
  if (a.reduction == Reduction::kMean) total[0] /= static_cast<double>(losses.size());
  return {total};
}

FIRN_REGISTER_COMPOSITE(gaussian_nll_loss) {
  s.Declare({{.name = "mean", .dtypes = kFloating},
             {.name = "target", .same_dtype_as = "mean"},
             {.name = "var", .same_dtype_as = "mean"}},
            {{.name = "y", .same_dtype_as = "mean"}});
  s.Function([](In in, const GaussianAttrs& a) {
    return GaussianNllLoss(in[0], in[1], in[2],
                           {.full = a.full, .eps = a.eps, .reduction = a.reduction});
  });
  s.Reference(GaussianReference);
  const Tensor mean = Normal({3, 4}, 1), target = Normal({3, 4}, 2);
  const Tensor var = Uniform({3, 4}, 0.5, 2, 3);
  s.Add("mean", {mean, target, var}, GaussianAttrs{});
  s.Add("sum, full", {mean, target, var}, GaussianAttrs{Reduction::kSum, true, 1e-6});
  s.Add("none", {mean, target, var}, GaussianAttrs{Reduction::kNone, false, 1e-6});
  s.Add("a variance a row", {mean, target, Uniform({3}, 0.5, 2, 4)}, GaussianAttrs{});
  s.Add("a variance a row, kept", {mean, target, Uniform({3, 1}, 0.5, 2, 5)}, GaussianAttrs{});
  s.Add("a scalar", {Normal({}, 6), Normal({}, 7), Uniform({}, 1, 2)}, GaussianAttrs{});
  s.Add("nothing", {Normal({0, 2}), Normal({0, 2}), Normal({0, 2})},
        GaussianAttrs{Reduction::kSum, false, 1e-6});
  s.Add("cut variances", {Values({1, 2, 3}), Values({0, 2, 5}), Values({0, 0.125, -1})},
        GaussianAttrs{Reduction::kNone, false, 0.25})
      .check_gradient = false;
  s.AddLarge("4M",
             {Normal({2048, 2048}, 1), Normal({2048, 2048}, 2), Uniform({2048, 2048}, 0.5, 2, 3)},
             GaussianAttrs{}, 30 * 4.2e6, 50.3e6);
  s.AddError("var", {mean, target, Uniform({4}, 1, 2)}, GaussianAttrs{},
             "var [4] must be like mean [3, 4]");
  s.AddError("target", {mean, Normal({3, 1}), var}, GaussianAttrs{},
             "shapes [3, 4] and [3, 1] differ: target must be like mean");
  s.AddError("eps", {mean, target, var}, GaussianAttrs{Reduction::kMean, false, 0},
             "eps must be above 0, got 0");
}

}  // namespace
}  // namespace firn::testing

#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/loss/loss_samples.h"
#include "firn/tensor/ops/loss/margin.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

struct MarginAttrs {
  Reduction reduction = Reduction::kMean;
  double margin = 1;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("margin", margin);
  }
};

// 1 and -1, without a gradient of interest.
Tensor Signs(const Shape& shape, uint64_t seed) {
  const std::vector<bool> bits = Booleans(shape, seed).ToVector<bool>();
  std::vector<double> signs;
  for (bool b : bits) signs.push_back(b ? 1 : -1);
  return Values(std::move(signs), shape);
}

// x far from every hinge, and signs.
Tensor XAndSigns(const Shape& shape, int which) {
  if (which == 1) return Signs(shape, 2);
  return shape.num_elements() < 1000 ? Distinct(shape, 0.13) : Uniform(shape, -3, 3);
}

// Targets decide which branch is taken, so only x has a gradient.
void NoGradientOfTargets(Samples& s) {
  for (Sample& sample : s.samples) sample.constant_inputs = {1};
}

FIRN_REGISTER_COMPOSITE(hinge_embedding_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "target", .same_dtype_as = "x"}});
  s.Function([](In in, const MarginAttrs& a) {
    return HingeEmbeddingLoss(in[0], in[1], {.margin = a.margin, .reduction = a.reduction});
  });
  s.Reference(LossReference<MarginAttrs>([](double x, double t, const MarginAttrs& a) {
    return (t == -1 ? 0 : x) + (t == 1 ? 0 : std::max(0.0, a.margin - x));
  }));
  AddLossSamples(s, MarginAttrs{}, XAndSigns);
  s.Add("another margin", {XAndSigns({7}, 0), XAndSigns({7}, 1)},
        MarginAttrs{Reduction::kNone, 0.3});
  s.Add("other targets", {Values({0.5, 3, -2}), Values({0, 2, 0})},
        MarginAttrs{Reduction::kNone, 1});
  NoGradientOfTargets(s);
}

struct RankingAttrs : MarginAttrs {
  RankingAttrs(Reduction r = Reduction::kMean, double m = 0) : MarginAttrs{r, m} {}
};

std::vector<RefTensor> RankingReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  RefTensor difference = in[0];
  for (int64_t i = 0; i < difference.size(); ++i) difference[i] -= in[1][i];
  const RefTensor both[] = {difference, in[2]};
  return LossReference<RankingAttrs>([](double d, double t, const RankingAttrs& a) {
    return std::max(0.0, a.margin - t * d);
  })(both, attrs);
}

FIRN_REGISTER_COMPOSITE(margin_ranking_loss) {
  s.Declare({{.name = "x1", .dtypes = kFloating},
             {.name = "x2", .same_dtype_as = "x1"},
             {.name = "target", .same_dtype_as = "x1"}},
            {{.name = "y", .same_dtype_as = "x1"}});
  s.Function([](In in, const RankingAttrs& a) {
    return MarginRankingLoss(in[0], in[1], in[2], {.margin = a.margin, .reduction = a.reduction});
  });
  s.Reference(RankingReference);
  const auto add = [&](const char* name, const Shape& shape, Reduction reduction, double margin) {
    s.Add(name, {Distinct(shape, 0.13), Uniform(shape, -0.03, 0.03, 2), Signs(shape, 3)},
          RankingAttrs{reduction, margin})
        .constant_inputs = {2};
  };
  add("mean", {3, 4}, Reduction::kMean, 0);
  add("sum", {2, 8, 3}, Reduction::kSum, 0.26);
  add("none", {7}, Reduction::kNone, 1);
  add("a scalar", {}, Reduction::kMean, 1);
  add("nothing", {0, 3}, Reduction::kSum, 0);
  const Tensor x = Normal({3}, 1);
  s.AddLarge("4M", {Normal({2048, 2048}, 1), Normal({2048, 2048}, 2), Signs({2048, 2048}, 3)},
             RankingAttrs{Reduction::kMean, 0}, 4 * 4.2e6, 50.3e6);
  s.AddError("shapes", {x, x, Normal({2})}, RankingAttrs{}, "target must be like x1");
  s.AddError("dtypes", {x, x, Integers({3}, 0, 2)}, RankingAttrs{}, ": convert one with To(...)");
}

FIRN_REGISTER_COMPOSITE(soft_margin_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "target", .same_dtype_as = "x"}});
  s.Function([](In in, const LossAttrs& a) { return SoftMarginLoss(in[0], in[1], a); });
  s.Reference(LossReference<LossAttrs>([](double x, double t, const LossAttrs&) {
    const double z = -t * x;
    return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
  }));
  AddLossSamples(s, LossAttrs{}, XAndSigns);
  s.large.back().constant_inputs = {1};  // PyTorch's has no gradient of targets
  s.Add("far", {Values({100, -100, 800, -800}), Values({1, 1, -1, -1})},
        LossAttrs{Reduction::kNone});
}

struct MultiMarginAttrs {
  double p = 1, margin = 1;
  Reduction reduction = Reduction::kMean;
  template <class V>
  void Visit(V& v) {
    v.Field("p", p);
    v.Field("margin", margin);
    v.Field("reduction", reduction);
  }
};

Tensor CallMultiMargin(In in, const MultiMarginAttrs& a) {
  return MultiMarginLoss(in[0], in[1], {a.p, a.margin, in[2], a.reduction});
}

std::vector<RefTensor> Reduced(const RefTensor& losses, Reduction reduction) {
  if (reduction == Reduction::kNone) return {losses};
  RefTensor total{Shape()};
  for (double v : losses.values) total[0] += v;
  if (reduction == Reduction::kMean) total[0] /= static_cast<double>(losses.size());
  return {total};
}

std::vector<RefTensor> MultiMarginReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const MultiMarginAttrs& a = attrs.get<MultiMarginAttrs>();
  RefTensor losses(in[1].shape);
  const int64_t classes = in[0].shape[in[0].shape.rank() - 1];
  for (int64_t i = 0; i < losses.size(); ++i) {
    const auto t = static_cast<int64_t>(in[1][i]);
    for (int64_t c = 0; c < classes; ++c) {
      if (c == t) continue;
      const double hinge =
          std::max(0.0, a.margin - in[0][i * classes + t] + in[0][i * classes + c]);
      losses[i] += std::pow(hinge, a.p);
    }
    losses[i] *= (in[2].defined() ? in[2][t] : 1) / static_cast<double>(classes);
  }
  return Reduced(losses, a.reduction);
}

FIRN_REGISTER_COMPOSITE(multi_margin_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 1, .max_rank = 2},
             {.name = "target", .dtypes = kIndex},
             {.name = "weight", .same_dtype_as = "x", .optional = true}});
  s.Function(CallMultiMargin);
  s.Reference(MultiMarginReference);
  const Tensor x = Distinct({4, 5}, 0.23), t = Indices({0, 4, 1, 2});
  const Tensor w = Uniform({5}, 0.5, 2, 3);
  s.Add("mean", {x, t, Tensor()}, MultiMarginAttrs{});
  s.Add("squares", {x, t, Tensor()}, MultiMarginAttrs{2, 0.5, Reduction::kSum});
  s.Add("weights", {x, t, w}, MultiMarginAttrs{1, 1.5, Reduction::kNone});
  s.Add("one sample", {Distinct({5}, 0.23), Indices({3}, {}), w}, MultiMarginAttrs{});
  s.Add("no sample", {Normal({0, 3}), Indices({}), Tensor()},
        MultiMarginAttrs{1, 1, Reduction::kSum});
  s.AddLarge("4096x1000", {Uniform({4096, 1000}, -3, 3), Integers({4096}, 0, 1000), Tensor()},
             MultiMarginAttrs{}, 4 * 4.1e6, 16.4e6);
  s.AddError("p", {x, t, Tensor()}, MultiMarginAttrs{3, 1, Reduction::kMean},
             "p must be 1 or 2, got 3");
  s.AddError("target", {x, Indices({0, 5, 1, 2}), Tensor()}, MultiMarginAttrs{},
             "multi_margin_loss: target 5 at index 1 is outside [0, 5)");
  s.AddError("floating target", {x, Uniform({4}, 0, 4), Tensor()}, MultiMarginAttrs{},
             "multi_margin_loss: target must be class indices, i32 or i64, got f64 [4] on cpu");
  s.AddError("target shape", {x, Indices({0, 1}), Tensor()}, MultiMarginAttrs{},
             "target [2] does not fit x [4, 5] (want [4])");
  s.AddError("weight", {x, t, Uniform({4}, 1, 2)}, MultiMarginAttrs{},
             "weight [4] must have one element for each of 5 classes");
  s.AddError("rank", {Normal({2, 3, 4}), t, Tensor()}, MultiMarginAttrs{},
             "x must be [n, classes] or [classes], got [2, 3, 4]");
}

// Calls f(label, class, hinge) for the pairs of sample i.
template <class F>
void ForEachPair(absl::Span<const RefTensor> in, int64_t i, F f) {
  const int64_t classes = in[0].shape[1];
  std::vector<int64_t> labels;
  for (int64_t j = 0; j < classes && in[1][i * classes + j] >= 0; ++j) {
    labels.push_back(static_cast<int64_t>(in[1][i * classes + j]));
  }
  for (int64_t y : labels) {
    for (int64_t c = 0; c < classes; ++c) {
      if (std::find(labels.begin(), labels.end(), c) != labels.end()) continue;
      const double hinge = 1 - in[0][i * classes + y] + in[0][i * classes + c];
      if (hinge > 0) f(y, c, hinge);
    }
  }
}

std::vector<RefTensor> MultilabelReference(absl::Span<const RefTensor> in, AttrsRef) {
  RefTensor losses(Shape({in[0].shape[0]}));
  const auto classes = static_cast<double>(in[0].shape[1]);
  for (int64_t i = 0; i < losses.size(); ++i) {
    ForEachPair(in, i, [&](int64_t, int64_t, double hinge) { losses[i] += hinge / classes; });
  }
  return {losses};
}

std::vector<RefTensor> SlopesReference(absl::Span<const RefTensor> in, AttrsRef) {
  RefTensor slopes(in[0].shape);
  const int64_t classes = in[0].shape[1];
  for (int64_t i = 0; i < in[0].shape[0]; ++i) {
    ForEachPair(in, i, [&](int64_t y, int64_t c, double) {
      slopes[i * classes + y] -= 1.0 / static_cast<double>(classes);
      slopes[i * classes + c] += 1.0 / static_cast<double>(classes);
    });
  }
  return {slopes};
}

void AddMultilabel(Samples& s) {
  s.Add("labels",
        {Distinct({3, 4}, 0.23), Indices({3, 0, -1, 1, -1, 0, 1, 2, 0, 1, 2, 3}, {3, 4})});
  s.Add("a label twice", {Distinct({1, 5}, 0.23), Indices({2, 2, 4, -1, 0}, {1, 5})});
  s.Add("no sample", {Normal({0, 3}), Indices({}, {0, 3})});
  s.AddLarge("512x100", {Uniform({512, 100}, -3, 3), Integers({512, 100}, -1, 100)}, {}, 4 * 5.1e6,
             0.6e6);
  s.AddError("labels", {Normal({1, 3}), Indices({0, 3, -1}, {1, 3})}, {},
             "3 at index 1 is outside [0, 3)");
  s.AddError("shapes", {Normal({2, 3}), Indices({0, 1}, {2, 1})}, {},
             "target [2, 1] must have x's shape, [2, 3]");
}

FIRN_REGISTER_SAMPLES(multilabel_margin_loss) {
  s.Function([](In in) { return MultilabelMarginLoss(in[0], in[1], Reduction::kNone); });
  s.Reference(MultilabelReference);
  AddMultilabel(s);
}

FIRN_REGISTER_SAMPLES(multilabel_margin_slopes) {
  s.Function<MultilabelMarginSlopes>();
  s.WithoutVectors("gradients of multilabel_margin_loss have them");
  s.Reference(SlopesReference);
  AddMultilabel(s);
}

FIRN_REGISTER_GOLDEN(multilabel_margin_loss) {
  return MultilabelMarginLoss(
      args["x"], args["target"],
      static_cast<Reduction>(args.Enumerator("reduction", inner::kWordsOf<Reduction>,
                                             static_cast<int64_t>(Reduction::kMean))));
}

std::vector<RefTensor> SoftReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Shape& shape = in[0].shape;
  Dims rows;
  for (int d = 0; d + 1 < shape.rank(); ++d) rows.push_back(shape[d]);
  RefTensor losses(Shape::Trusted(rows));
  const int64_t classes = shape[shape.rank() - 1];
  for (int64_t i = 0; i < in[0].size(); ++i) {
    const double x = in[0][i], weight = in[2].defined() ? in[2][i % in[2].size()] : 1;
    const double loss = std::max(x, 0.0) - x * in[1][i] + std::log1p(std::exp(-std::abs(x)));
    losses[i / classes] += weight * loss / static_cast<double>(classes);
  }
  return Reduced(losses, attrs.get<LossAttrs>().reduction);
}

FIRN_REGISTER_COMPOSITE(multilabel_soft_margin_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating, .min_rank = 1},
             {.name = "target", .same_dtype_as = "x"},
             {.name = "weight", .same_dtype_as = "x", .optional = true}});
  s.Function([](In in, const LossAttrs& a) {
    return MultilabelSoftMarginLoss(in[0], in[1], {.weight = in[2], .reduction = a.reduction});
  });
  s.Reference(SoftReference);
  const auto targets = [](const Shape& shape) { return Uniform(shape, 0, 1, 2); };
  s.Add("mean", {Normal({3, 4}), targets({3, 4}), Tensor()}, LossAttrs{});
  s.Add("weights", {Normal({3, 4}), targets({3, 4}), Uniform({4}, 0.5, 2)},
        LossAttrs{Reduction::kNone});
  s.Add("one sample", {Normal({5}), targets({5}), Tensor()}, LossAttrs{});
  s.Add("more dimensions", {Normal({2, 3, 4}), targets({2, 3, 4}), Tensor()},
        LossAttrs{Reduction::kSum});
  s.Add("nothing", {Normal({0, 3}), Normal({0, 3}), Tensor()}, LossAttrs{Reduction::kSum});
  s.AddLarge("4M", {Normal({4096, 1024}), targets({4096, 1024}), Tensor()}, LossAttrs{}, 20 * 4.2e6,
             33.6e6);
  s.AddError("a scalar", {Normal({}), Normal({}), Tensor()}, LossAttrs{},
             "x is 0-d: it has no classes");
  s.AddError("weight", {Normal({3, 4}), targets({3, 4}), Uniform({3}, 1, 2)}, LossAttrs{},
             "multilabel_soft_margin_loss: weight [3] does not broadcast to [3, 4]");
}

}  // namespace
}  // namespace firn::testing

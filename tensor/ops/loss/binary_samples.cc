#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/elementwise/elementwise_samples.h"
#include "firn/tensor/ops/loss/binary.h"
#include "firn/tensor/ops/loss/loss_samples.h"
#include "firn/tensor/testing/golden_samples.h"

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

FIRN_REGISTER_SAMPLES(binary_cross_entropy_grad) {
  s.Internal("the gradient of binary_cross_entropy");
  ElementReference(s, [](const double* in, AttrsRef) {
    return in[2] * (in[0] - in[1]) / std::max(in[0] * (1 - in[0]), 1e-12);
  });
  const auto inside = [](const Shape& shape, uint64_t seed) {
    return Uniform(shape, 0.1, 0.9, seed);
  };
  s.Add("one flow", {inside({3, 5}, 1), inside({3, 5}, 2), Normal({}, 3)});
  s.Add("flows", {inside({2, 8, 3, 3}, 1), inside({2, 8, 3, 3}, 2), Normal({2, 8, 3, 3}, 3)});
  s.Add("nothing", {inside({0, 3}, 1), inside({0, 3}, 2), Normal({}, 3)});
  s.Add("hard", {Values({0, 1, 0, 1}), Values({0, 1, 0.5, 0.5}), Values({1, 2, 1e-12, 1e-12})})
      .check_gradient = false;
  s.AddLarge("4M", {inside({2048, 2048}, 1), inside({2048, 2048}, 2), Normal({}, 3)}, {}, 5 * 4.2e6,
             50.3e6);
}

FIRN_REGISTER_SAMPLES(binary_cross_entropy_target_grad) {
  s.Internal("the gradient of binary_cross_entropy by its target");
  ElementReference(s, [](const double* in, AttrsRef) {
    return in[1] * (std::max(std::log1p(-in[0]), -100.0) - std::max(std::log(in[0]), -100.0));
  });
  const auto inside = [](const Shape& shape, uint64_t seed) {
    return Uniform(shape, 0.1, 0.9, seed);
  };
  s.Add("one flow", {inside({3, 5}, 1), Normal({}, 3)});
  s.Add("flows", {inside({2, 8, 3, 3}, 1), Normal({2, 8, 3, 3}, 3)});
  s.Add("nothing", {inside({0, 3}, 1), Normal({}, 3)});
  s.Add("hard", {Values({0, 1, 0, 1}), Values({1, 2, -0.5, 0.25})}).check_gradient = false;
  s.AddLarge("4M", {inside({2048, 2048}, 1), Normal({}, 3)}, {}, 20 * 4.2e6, 33.6e6);
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

// The elements' losses times weights that broadcast, reduced.
ReferenceFn Weighted(const char* op, bool positive) {
  return [op, positive](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const LossAttrs each{Reduction::kNone};
    Samples times;
    times.Reference([](double x, double y) { return x * y; });
    RefTensor losses;
    if (positive) {  // the part of positive targets is that of target 1, and so on
      RefTensor ones(in[0].shape, 1), zeros(in[0].shape, 0), flipped = in[1];
      for (double& v : flipped.values) v = 1 - v;
      const auto part = [&](const RefTensor& target, const RefTensor& share) {
        const RefTensor loss = SamplesOf(op)->reference({{in[0], target}}, each)[0];
        return times.reference({{loss, share}}, {})[0];
      };
      losses = part(zeros, flipped);
      const RefTensor weighted = times.reference({{part(ones, in[1]), in[3]}}, {})[0];
      for (int64_t i = 0; i < losses.size(); ++i) losses[i] += weighted[i];
    } else {
      losses = SamplesOf(op)->reference(in.subspan(0, 2), each)[0];
    }
    losses = times.reference({{losses, in[2]}}, {})[0];
    return LossReference<LossAttrs>([](double x, double, const LossAttrs&) { return x; })(
        {{losses, losses}}, attrs);
  };
}

FIRN_REGISTER_COMPOSITE(weighted_binary_cross_entropy) {
  s.Declare({{.name = "p", .dtypes = kFloating},
             {.name = "target", .same_dtype_as = "p"},
             {.name = "weight", .same_dtype_as = "p"}},
            {{.name = "y", .same_dtype_as = "p"}});
  s.Function([](In in, const LossAttrs& a) {
    return BinaryCrossEntropy(in[0], in[1], {.weight = in[2], .reduction = a.reduction});
  });
  s.WithoutVectors("they are among those of binary_cross_entropy");
  s.Reference(Weighted("binary_cross_entropy", false));
  const Tensor p = Uniform({3, 4}, 0.1, 0.9), target = Uniform({3, 4}, 0.1, 0.9, 2);
  s.Add("none", {p, target, Uniform({3, 4}, 0.5, 2, 3)}, LossAttrs{Reduction::kNone});
  s.Add("mean", {p, target, Uniform({4}, 0.5, 2, 3)}, LossAttrs{});
  s.Add("sum", {p, target, Uniform({3, 1}, 0.5, 2, 3)}, LossAttrs{Reduction::kSum});
  s.AddError("weight", {p, target, Normal({5})}, LossAttrs{},
             "weight [5] does not broadcast to [3, 4]");
}

FIRN_REGISTER_COMPOSITE(weighted_binary_cross_entropy_with_logits) {
  s.Declare({{.name = "x", .dtypes = kFloating},
             {.name = "target", .same_dtype_as = "x"},
             {.name = "weight", .same_dtype_as = "x"},
             {.name = "pos_weight", .same_dtype_as = "x"}});
  s.Function([](In in, const LossAttrs& a) {
    return BinaryCrossEntropyWithLogits(
        in[0], in[1], {.weight = in[2], .pos_weight = in[3], .reduction = a.reduction});
  });
  s.WithoutVectors("they are among those of binary_cross_entropy_with_logits");
  s.Reference(Weighted("binary_cross_entropy_with_logits", true));
  const Tensor x = Normal({3, 4}), target = Uniform({3, 4}, 0.1, 0.9, 2);
  const Tensor weight = Uniform({3, 4}, 0.5, 2, 3), positive = Uniform({4}, 0.5, 2, 4);
  s.Add("none", {x, target, weight, positive}, LossAttrs{Reduction::kNone});
  s.Add("mean", {x, target, Uniform({4}, 0.5, 2, 3), positive}, LossAttrs{});
  s.Add("sum", {x, target, Uniform({3, 1}, 0.5, 2, 3), positive}, LossAttrs{Reduction::kSum});
  s.AddError("weight", {x, target, Normal({5}), positive}, LossAttrs{},
             "weight [5] does not broadcast to [3, 4]");
}

FIRN_REGISTER_GOLDEN(binary_cross_entropy) {
  return BinaryCrossEntropy(
      args["p"], args["target"],
      {.weight = args["weight"], .reduction = AttrsFrom<LossAttrs>(args).reduction});
}

FIRN_REGISTER_GOLDEN(binary_cross_entropy_with_logits) {
  return BinaryCrossEntropyWithLogits(args["x"], args["target"],
                                      {.weight = args["weight"],
                                       .pos_weight = args["pos_weight"],
                                       .reduction = AttrsFrom<LossAttrs>(args).reduction});
}

struct FocalAttrs {
  Reduction reduction = Reduction::kNone;
  double alpha = 0.25, gamma = 2;
  template <class V>
  void Visit(V& v) {
    v.Field("reduction", reduction);
    v.Field("alpha", alpha);
    v.Field("gamma", gamma);
  }
};

FIRN_REGISTER_COMPOSITE(sigmoid_focal_loss) {
  s.Declare({{.name = "x", .dtypes = kFloating}, {.name = "target", .same_dtype_as = "x"}});
  s.Function([](In in, const FocalAttrs& a) {
    return SigmoidFocalLoss(in[0], in[1],
                            {.alpha = a.alpha, .gamma = a.gamma, .reduction = a.reduction});
  });
  s.Reference(LossReference<FocalAttrs>([](double x, double t, const FocalAttrs& a) {
    const double p = 1 / (1 + std::exp(-x)), wrong = p * (1 - t) + t * (1 - p);
    const double loss = std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
    const double weight = a.alpha < 0 ? 1 : a.alpha * t + (1 - a.alpha) * (1 - t);
    return weight * std::pow(wrong, a.gamma) * loss;
  }));
  AddLossSamples(s, FocalAttrs{}, [](const Shape& shape, int which) {
    return which == 0 ? Normal(shape) : Uniform(shape, 0, 1, 2);
  });
  const Tensor x = Normal({7}), t = Values({0, 1, 1, 0, 0, 1, 0});
  s.Add("hard targets", {x, t}, FocalAttrs{Reduction::kSum, 0.25, 2}).constant_inputs = {1};
  s.Add("no weights", {x, Uniform({7}, 0, 1, 2)}, FocalAttrs{Reduction::kNone, -1, 1});
  s.Add("gamma 0", {x, Uniform({7}, 0, 1, 2)}, FocalAttrs{Reduction::kNone, 0.75, 0});
}

}  // namespace
}  // namespace firn::testing

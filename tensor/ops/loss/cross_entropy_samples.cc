#include <algorithm>
#include <cmath>

#include "firn/tensor/ops/loss/cross_entropy.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

// One call, sample by sample.
struct Problem {
  const RefTensor &logits, &target, &weight;
  const CrossEntropyAttrs& a;

  double WeightOf(int64_t j) const { return weight.defined() ? weight[j] : 1; }
  bool Ignores(int64_t sample) const {
    return target[sample] == static_cast<double>(a.ignore_index);
  }
  // What the losses are divided by.
  double Divisor() const {
    double total = 0;
    for (int64_t i = 0; i < target.size(); ++i) {
      if (!Ignores(i)) total += WeightOf(static_cast<int64_t>(target[i]));
    }
    return a.reduction == Reduction::kMean ? total : 1;
  }
  // f(sample, n, first, step): the sample's line of logits.
  template <class F>
  void ForEachSample(F f) const {
    int64_t sample = 0;
    ForEachLine(logits.shape, logits.shape.rank() == 1 ? 0 : 1,
                [&](int64_t n, int64_t first, int64_t step) { f(sample++, n, first, step); });
  }
  // The weighted and smoothed target distribution.
  double Target(int64_t sample, int64_t j, int64_t n) const {
    const bool hit = static_cast<int64_t>(target[sample]) == j;
    return WeightOf(j) *
           ((hit ? 1 - a.label_smoothing : 0) + a.label_smoothing / static_cast<double>(n));
  }
};

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Problem p{in[0], in[1], in[2], attrs.get<CrossEntropyAttrs>()};
  RefTensor losses(in[1].shape), logsumexp(in[1].shape);
  p.ForEachSample([&](int64_t i, int64_t n, int64_t first, int64_t step) {
    double top = in[0][first], sum = 0;
    for (int64_t j = 0; j < n; ++j) top = std::max(top, in[0][first + j * step]);
    for (int64_t j = 0; j < n; ++j) sum += std::exp(in[0][first + j * step] - top);
    logsumexp[i] = top + std::log(sum);
    for (int64_t j = 0; j < n && !p.Ignores(i); ++j) {
      losses[i] += p.Target(i, j, n) * (logsumexp[i] - in[0][first + j * step]);
    }
  });
  if (p.a.reduction == Reduction::kNone) return {losses, logsumexp};
  RefTensor total{Shape()};
  for (double v : losses.values) total[0] += v;
  total[0] /= p.Divisor();
  return {total, logsumexp};
}

std::vector<RefTensor> GradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const Problem p{in[1], in[2], in[3], attrs.get<CrossEntropyAttrs>()};
  const double divisor = p.Divisor();
  RefTensor dx(in[1].shape);
  p.ForEachSample([&](int64_t i, int64_t n, int64_t first, int64_t step) {
    if (p.Ignores(i)) return;
    const double dy = in[0][p.a.reduction == Reduction::kNone ? i : 0] / divisor;
    double total = 0;
    for (int64_t j = 0; j < n; ++j) total += p.Target(i, j, n);
    for (int64_t j = 0; j < n; ++j) {
      const double prob = std::exp(in[1][first + j * step] - in[4][i]);
      dx[first + j * step] = dy * (total * prob - p.Target(i, j, n));
    }
  });
  return {dx};
}

CrossEntropyAttrs With(Reduction reduction, double smoothing = 0, int64_t ignored = -100) {
  return {ignored, reduction, smoothing};
}

Tensor Called(In in, const CrossEntropyAttrs& a) {
  return CrossEntropy(in[0], in[1],
                      {.weight = in[2],
                       .ignore_index = a.ignore_index,
                       .reduction = a.reduction,
                       .label_smoothing = a.label_smoothing});
}

FIRN_REGISTER_SAMPLES(cross_entropy) {
  s.Function(Called);
  s.Reference(Reference);
  const auto add = [&](const char* name, std::vector<Tensor> in, const CrossEntropyAttrs& a) {
    Sample& sample = s.Add(name, std::move(in), a);
    sample.constant_inputs = {2};
    return &sample;
  };
  const Tensor x = Normal({4, 5}), t = Indices({0, 4, 2, 2}), w = Uniform({5}, 0.5, 2, 3);
  const Tensor images = Normal({2, 3, 4, 2}), pixels = Integers({2, 4, 2}, 0, 3);
  add("mean", {x, t, Tensor()}, {});
  add("sum", {x, t, Tensor()}, With(Reduction::kSum));
  add("none", {x, t, Tensor()}, With(Reduction::kNone));
  add("one sample", {Normal({5}), Indices({3}, {}), Tensor()}, {});
  add("weights", {x, t, w}, {});
  add("weights, none", {x, t, w}, With(Reduction::kNone));
  add("ignored", {x, Indices({0, -100, 2, -100}), w}, {});
  add("another ignored", {x, t, Tensor()}, With(Reduction::kSum, 0, 2));
  add("all ignored", {x, Indices({-1, -1, -1, -1}), Tensor()}, With(Reduction::kSum, 0, -1));
  add("smoothing", {x, t, Tensor()}, With(Reduction::kMean, 0.1));
  add("smoothing and weights", {x, Indices({1, -100, 3, 0}), w}, With(Reduction::kMean, 0.3));
  add("smoothing, none", {x, t, w}, With(Reduction::kNone, 1));
  add("pixels", {images, pixels, Tensor()}, {});
  add("pixels, everything", {images, pixels, Uniform({3}, 0.5, 2)}, With(Reduction::kNone, 0.2, 1));
  add("large values", {Uniform({3, 6}, -200, 200), Indices({0, 5, 1}), Tensor()}, {});
  add("many classes", {Normal({3, 1100}), Indices({0, 1099, 500}), Tensor()}, {})->check_gradient =
      false;
  add("many pixels", {Normal({1, 3, 300}), Integers({1, 300}, 0, 3), Tensor()}, {})
      ->check_gradient = false;
  add("no samples", {Normal({0, 5}), Integers({0}, 0, 1), Tensor()}, With(Reduction::kSum));
  s.AddLarge("512x1000", {Normal({512, 1000}), Integers({512}, 0, 1000), Tensor()},
             CrossEntropyAttrs{}, 4 * 0.51e6, 2.05e6);
  s.AddLarge("64x10", {Normal({64, 10}), Integers({64}, 0, 10), Tensor()}, CrossEntropyAttrs{},
             4 * 640, 2560);
  s.AddError("label", {Normal({2, 10}), Indices({3, 10}), Tensor()}, CrossEntropyAttrs{},
             "label 10 at index 1 is outside [0, 10)");
  s.AddError("negative label", {Normal({2, 10}), Indices({-1, 3}), Tensor()}, CrossEntropyAttrs{},
             "label -1 at index 0 is outside [0, 10)");
  s.AddError("target shape", {Normal({3, 10}), Indices({1, 2, 3, 4}), Tensor()},
             CrossEntropyAttrs{}, "label [4] does not fit logits [3, 10] (want [3])");
  s.AddError("weight", {x, t, Normal({4})}, CrossEntropyAttrs{},
             "weight [4] must have one element for each of 5 classes");
  s.AddError("smoothing", {x, t, Tensor()}, With(Reduction::kMean, 1.5),
             "label_smoothing must be in [0, 1], got 1.5");
  s.AddError("reduction", {x, t, Tensor()}, With(Reduction::kBatchMean),
             "reduction must be none, mean or sum");
}

FIRN_REGISTER_SAMPLES(cross_entropy_grad) {
  s.Internal("the gradient of cross_entropy");
  s.Reference(GradReference);
  const Tensor x = Normal({4, 5}), t = Indices({0, 4, -100, 2}), w = Uniform({5}, 0.5, 2, 3);
  const Tensor dy = Normal({4}, 4), one = Values({1.5}, {}), top = Uniform({4}, 2, 3);
  const auto add = [&](const char* name, std::vector<Tensor> in, const CrossEntropyAttrs& a) {
    s.Add(name, std::move(in), a).constant_inputs = {3};
  };
  add("mean", {one, x, t, Tensor(), top}, {});
  add("weights", {one, x, t, w, top}, With(Reduction::kMean, 0.1));
  add("none", {dy, x, t, w, top}, With(Reduction::kNone));
  add("pixels",
      {Normal({2, 4}, 4), Normal({2, 3, 4}), Integers({2, 4}, 0, 3), Tensor(),
       Uniform({2, 4}, 2, 3)},
      With(Reduction::kNone, 0.5));
  s.AddLarge("512x1000",
             {one, Normal({512, 1000}), Integers({512}, 0, 1000), Tensor(), Uniform({512}, 7, 8)},
             CrossEntropyAttrs{}, 4 * 0.51e6, 4.1e6);
  s.AddError("dy", {dy, x, t, Tensor(), top}, CrossEntropyAttrs{},
             "dy must have shape [], got [4]");
  s.AddError("logsumexp", {one, x, t, Tensor(), Normal({5})}, CrossEntropyAttrs{},
             "logsumexp must be f64 [4], got f64 [5]");
}

FIRN_REGISTER_COMPOSITE(cross_entropy_of_probabilities) {
  s.Declare({{.name = "logits", .dtypes = kFloating, .min_rank = 1},
             {.name = "target", .same_dtype_as = "logits"},
             {.name = "weight", .same_dtype_as = "logits", .optional = true}},
            {{.name = "y", .same_dtype_as = "logits"}});
  s.Function(Called);
  s.WithoutVectors("they are among those of cross_entropy");
  s.Reference([](absl::Span<const RefTensor> in, AttrsRef attrs) {
    const CrossEntropyAttrs& a = attrs.get<CrossEntropyAttrs>();
    std::vector<double> losses;
    ForEachLine(
        in[0].shape, in[0].shape.rank() == 1 ? 0 : 1, [&](int64_t n, int64_t first, int64_t step) {
          double sum = 0, loss = 0;
          for (int64_t j = 0; j < n; ++j) sum += std::exp(in[0][first + j * step]);
          for (int64_t j = 0; j < n; ++j) {
            const double p = (1 - a.label_smoothing) * in[1][first + j * step] +
                             a.label_smoothing / static_cast<double>(n);
            loss +=
                (in[2].defined() ? in[2][j] : 1) * p * (std::log(sum) - in[0][first + j * step]);
          }
          losses.push_back(loss);
        });
    Dims shape;
    for (int d = 0; d < in[0].shape.rank(); ++d) {
      if (d != (in[0].shape.rank() == 1 ? 0 : 1)) shape.push_back(in[0].shape[d]);
    }
    RefTensor each{Shape(shape.span())}, total{Shape()};
    each.values = losses;
    for (double v : losses) total[0] += v;
    if (a.reduction == Reduction::kMean) total[0] /= static_cast<double>(losses.size());
    return std::vector<RefTensor>{a.reduction == Reduction::kNone ? each : total};
  });
  const Tensor x = Normal({4, 5}), p = Uniform({4, 5}, 0, 0.4, 2), w = Uniform({5}, 0.5, 2, 3);
  s.Add("mean", {x, p, Tensor()}, CrossEntropyAttrs{});
  s.Add("sum", {x, p, w}, With(Reduction::kSum));
  s.Add("none, smoothing", {x, p, w}, With(Reduction::kNone, 0.2));
  s.Add("one sample", {Normal({5}), Uniform({5}, 0, 0.4, 2), Tensor()}, CrossEntropyAttrs{});
  s.Add("pixels", {Normal({2, 8, 3, 2}), Uniform({2, 8, 3, 2}, 0, 0.3, 2), Tensor()},
        With(Reduction::kMean, 0.1));
  s.AddError("shapes", {x, Uniform({4, 4}, 0, 1), Tensor()}, CrossEntropyAttrs{}, "[4, 4]");
}

FIRN_REGISTER_GOLDEN(cross_entropy) {
  const std::vector<Tensor> in = {args["logits"], args["target"], args["weight"]};
  return Called(In(in), AttrsFrom<CrossEntropyAttrs>(args));
}

}  // namespace
}  // namespace firn::testing

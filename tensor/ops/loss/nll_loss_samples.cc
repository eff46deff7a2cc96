#include "firn/tensor/ops/loss/nll_loss.h"
#include "firn/tensor/ops/scan/line_samples.h"
#include "firn/tensor/testing/golden_samples.h"

namespace firn::testing {
namespace {

double WeightOf(const RefTensor& weight, double target) {
  return weight.defined() ? weight[static_cast<int64_t>(target)] : 1;
}

double Divisor(const RefTensor& target, const RefTensor& weight, const NllLossAttrs& a) {
  if (a.reduction != Reduction::kMean) return 1;
  double total = 0;
  for (double t : target.values) {
    if (t != static_cast<double>(a.ignore_index)) total += WeightOf(weight, t);
  }
  return total;
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const NllLossAttrs& a = attrs.get<NllLossAttrs>();
  RefTensor losses(in[1].shape), total{Shape()};
  int64_t i = 0;
  ForEachLine(in[0].shape, in[0].shape.rank() == 1 ? 0 : 1,
              [&](int64_t, int64_t first, int64_t step) {
                const double t = in[1][i];
                if (t != static_cast<double>(a.ignore_index)) {
                  losses[i] = -WeightOf(in[2], t) * in[0][first + static_cast<int64_t>(t) * step];
                }
                ++i;
              });
  for (double v : losses.values) total[0] += v;
  total[0] /= Divisor(in[1], in[2], a);
  return {a.reduction == Reduction::kNone ? losses : total};
}

std::vector<RefTensor> GradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const NllLossAttrs& a = attrs.get<NllLossAttrs>();
  Dims shape;
  if (in[1].shape.rank() == 0) shape.push_back(a.classes);
  for (int d = 0; d < in[1].shape.rank(); ++d) {
    shape.push_back(in[1].shape[d]);
    if (d == 0) shape.push_back(a.classes);
  }
  RefTensor dx(Shape(shape.span()));
  int64_t i = 0;
  ForEachLine(dx.shape, dx.shape.rank() == 1 ? 0 : 1, [&](int64_t, int64_t first, int64_t step) {
    const double t = in[1][i];
    const double dy = in[0][a.reduction == Reduction::kNone ? i : 0] / Divisor(in[1], in[2], a);
    if (t != static_cast<double>(a.ignore_index)) {
      dx[first + static_cast<int64_t>(t) * step] = -WeightOf(in[2], t) * dy;
    }
    ++i;
  });
  return {dx};
}

Tensor Called(In in, const NllLossAttrs& a) {
  return NllLoss(in[0], in[1],
                 {.weight = in[2], .ignore_index = a.ignore_index, .reduction = a.reduction});
}

FIRN_REGISTER_SAMPLES(nll_loss) {
  s.Function(Called);
  s.Reference(Reference);
  const Tensor x = Uniform({4, 5}, -3, 0), t = Indices({0, 4, -100, 2});
  const Tensor w = Uniform({5}, 0.5, 2, 3);
  const auto add = [&](const char* name, std::vector<Tensor> in, const NllLossAttrs& a) {
    s.Add(name, std::move(in), a).constant_inputs = {2};
  };
  add("mean", {x, t, Tensor()}, {});
  add("sum, weights", {x, t, w}, {-100, Reduction::kSum});
  add("none, weights", {x, t, w}, {-100, Reduction::kNone});
  add("mean, weights", {x, Indices({1, 2, 3, 3}), w}, {3});
  add("one sample", {Uniform({5}, -3, 0), Indices({3}, {}), Tensor()}, {});
  add("pixels", {Uniform({2, 3, 4, 2}, -3, 0), Integers({2, 4, 2}, 0, 3), Tensor()}, {});
  // More losses than are added in one go.
  add("4099 samples", {Uniform({4099, 2}, -3, 0), Integers({4099}, 0, 2), Tensor()}, {});
  s.AddLarge("512x1000", {Uniform({512, 1000}, -8, 0), Integers({512}, 0, 1000), Tensor()},
             NllLossAttrs{}, 512, 4096);
  s.AddError("label", {x, Indices({0, 1, 5, 2}), Tensor()}, NllLossAttrs{},
             "label 5 at index 2 is outside [0, 5)");
  s.AddError("target shape", {x, Indices({0, 1}), Tensor()}, NllLossAttrs{},
             "label [2] does not fit log_probs [4, 5] (want [4])");
  s.AddError("reduction", {x, t, Tensor()}, NllLossAttrs{-100, Reduction::kBatchMean},
             "reduction must be none, mean or sum");
}

FIRN_REGISTER_SAMPLES(nll_loss_grad) {
  s.Internal("the gradient of nll_loss");
  s.Reference(GradReference);
  const Tensor t = Indices({0, 4, -100, 2}), w = Uniform({5}, 0.5, 2, 3), one = Values({1.5}, {});
  const auto add = [&](const char* name, std::vector<Tensor> in, const NllLossAttrs& a) {
    s.Add(name, std::move(in), a).constant_inputs = {2};
  };
  add("mean", {one, t, w}, {-100, Reduction::kMean, 5});
  add("none", {Normal({4}), t, Tensor()}, {-100, Reduction::kNone, 5});
  add("one sample", {one, Indices({3}, {}), Tensor()}, {-100, Reduction::kSum, 4});
  add("pixels", {Normal({2, 4}), Integers({2, 4}, 0, 3), Tensor()}, {-100, Reduction::kNone, 3});
  s.AddLarge("512x1000", {one, Integers({512}, 0, 1000), Tensor()},
             NllLossAttrs{-100, Reduction::kMean, 1000}, 512, 2.05e6);
  s.AddError("dy", {Normal({4}), t, Tensor()}, NllLossAttrs{-100, Reduction::kSum, 5},
             "dy must have shape [], got [4]");
}

FIRN_REGISTER_GOLDEN(nll_loss) {
  const std::vector<Tensor> in = {args["log_probs"], args["target"], args["weight"]};
  return Called(In(in), AttrsFrom<NllLossAttrs>(args));
}

}  // namespace
}  // namespace firn::testing

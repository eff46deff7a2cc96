#include <cmath>
#include <functional>
#include <vector>

#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/loss/ctc_loss.h"
#include "firn/tensor/testing/golden_samples.h"
#include "firn/tensor/testing/samples.h"

// The reference writes all paths out, C^T of them, and finds the target that each becomes.

namespace firn::testing {
namespace {

// A path without repeats and blanks.
std::vector<int64_t> Collapsed(const std::vector<int64_t>& path, int64_t blank) {
  std::vector<int64_t> labels;
  for (size_t t = 0; t < path.size(); ++t) {
    if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) labels.push_back(path[t]);
  }
  return labels;
}

// Each sample's paths: f(path, log probability) for those that give its target.
struct Paths {
  RefTensor x, targets, steps, lengths;
  int64_t blank;

  void Visit(int64_t n, const std::function<void(const std::vector<int64_t>&, double)>& f) const {
    int64_t first = 0;
    for (int64_t i = 0; i < n; ++i) {
      first += targets.shape.rank() == 2 ? targets.shape[1] : static_cast<int64_t>(lengths[i]);
    }
    std::vector<int64_t> want, path(static_cast<size_t>(steps[n]));
    for (int64_t j = 0; j < static_cast<int64_t>(lengths[n]); ++j) {
      want.push_back(static_cast<int64_t>(targets[first + j]));
    }
    const int64_t classes = x.shape[2];
    for (;;) {
      double sum = 0;
      for (size_t t = 0; t < path.size(); ++t) {
        sum += x.at({static_cast<int64_t>(t), n, path[t]});
      }
      if (Collapsed(path, blank) == want) f(path, sum);
      size_t t = 0;
      while (t < path.size() && ++path[t] == classes) path[t++] = 0;
      if (t == path.size()) return;
    }
  }
  double Probability(int64_t n) const {
    double p = 0;
    Visit(n, [&](const std::vector<int64_t>&, double log) { p += std::exp(log); });
    return p;
  }
};

Paths PathsOf(absl::Span<const RefTensor> in, size_t first, const CtcLossAttrs& a) {
  return {in[first], in[first + 1], in[first + 2], in[first + 3], a.blank};
}

std::vector<RefTensor> Reference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const CtcLossAttrs& a = attrs.get<CtcLossAttrs>();
  const Paths paths = PathsOf(in, 0, a);
  RefTensor loss(in[2].shape);
  for (int64_t n = 0; n < loss.size(); ++n) {
    loss[n] = -std::log(paths.Probability(n));
    if (a.zero_infinity && std::isinf(loss[n])) loss[n] = 0;
  }
  return {loss};
}

std::vector<RefTensor> GradReference(absl::Span<const RefTensor> in, AttrsRef attrs) {
  const CtcLossAttrs& a = attrs.get<CtcLossAttrs>();
  const Paths paths = PathsOf(in, 1, a);
  RefTensor dx(in[1].shape);
  for (int64_t n = 0; n < in[0].size(); ++n) {
    const double p = paths.Probability(n);
    if (p == 0) continue;
    paths.Visit(n, [&](const std::vector<int64_t>& path, double log) {
      for (size_t t = 0; t < path.size(); ++t) {
        dx.at({static_cast<int64_t>(t), n, path[t]}) -= in[0][n] * std::exp(log) / p;
      }
    });
  }
  return {dx};
}

// Log probabilities that add up to about 1, not exactly: the formula does not need it.
Tensor Probabilities(const Shape& shape, uint64_t seed = 1) {
  return Uniform(shape, -2.5, -0.25, seed);
}

// Calls f(name, inputs, attrs) for every call that both operations are tested on.
void ForEachCall(
    const std::function<void(const char*, std::vector<Tensor>, const CtcLossAttrs&)>& f) {
  const Tensor x = Probabilities({5, 3, 3});
  f("rows", {x, Indices({1, 2, 2, 1, 1, 1}, {3, 2}), Indices({5, 4, 3}), Indices({2, 1, 2})}, {});
  f("behind one another", {x, Indices({2, 1, 1, 2}), Indices({4, 5, 5}), Indices({1, 0, 3})}, {});
  f("another blank",
    {x, Indices({0, 1, 0, 0, 1, 1}, {3, 2}), Indices({5, 5, 5}), Indices({2, 2, 1})}, {2});
  f("padding of any kind",
    {x, Indices({1, -7, 99, 0, 2, 1}, {3, 2}), Indices({5, 0, 2}), Indices({1, 0, 2})}, {});
  f("repeats that just fit",
    {Probabilities({5, 1, 3}, 2), Indices({1, 1, 1}, {1, 3}), Indices({5}), Indices({3})}, {});
  f("out of reach",
    {Probabilities({3, 3, 3}, 3), Indices({1, 1, 2, 2, 1, 2}), Indices({2, 3, 0}),
     Indices({2, 3, 1})},
    {0, true});
  f("one class",
    {Probabilities({3, 2, 1}, 4), Indices(std::vector<int64_t>{}), Indices({3, 2}),
     Indices({0, 0})},
    {});
  f("four classes, eight samples",
    {Probabilities({4, 8, 4}, 5), Integers({8, 2}, 1, 4), Integers({8}, 2, 5, 2),
     Integers({8}, 0, 2, 3)},
    {});
  f("no time",
    {Probabilities({0, 2, 2}), Indices({1, 1}, {2, 1}), Indices({0, 0}), Indices({0, 0})}, {});
  f("nothing",
    {Probabilities({3, 0, 2}), Indices(std::vector<int64_t>{}, {0, 1}),
     Indices(std::vector<int64_t>{}), Indices(std::vector<int64_t>{})},
    {});
}

FIRN_REGISTER_SAMPLES(ctc_loss) {
  s.Function([](In in, const CtcLossAttrs& a) {
    return CtcLoss(
        in[0], in[1], in[2], in[3],
        {.blank = a.blank, .reduction = Reduction::kNone, .zero_infinity = a.zero_infinity});
  });
  s.Reference(Reference);
  ForEachCall([&](const char* name, std::vector<Tensor> in, const CtcLossAttrs& a) {
    s.Add(name, std::move(in), a);
  });
  const Tensor x = Probabilities({3, 2, 4}), t = Indices({1, 2, 3, 1}, {2, 2});
  s.Add("infinite", {x, Indices({1, 1, 2}), Indices({2, 3}), Indices({2, 1})}, CtcLossAttrs{})
      .check_gradient = false;
  s.AddLarge("T 200, N 32, C 80, S 40",
             {Uniform({200, 32, 80}, -8, -1), Integers({32, 40}, 1, 80), Integers({32}, 200, 201),
              Integers({32}, 40, 41)},
             CtcLossAttrs{}, 0, 4.1e6);
  const Tensor three = Indices({3, 3}), two = Indices({2, 2});
  s.AddError("time", {x, t, Indices({3, 4}), two}, CtcLossAttrs{},
             "input length 4 of sample 1 is outside [0, 3]");
  s.AddError("length", {x, t, three, Indices({3, 1})}, CtcLossAttrs{},
             "target length 3 of sample 0 is outside [0, 2]");
  s.AddError("negative length", {x, t, three, Indices({2, -1})}, CtcLossAttrs{},
             "target length -1 of sample 1 is outside [0, 2]");
  s.AddError("too few behind one another", {x, Indices({1, 2, 3}), three, two}, CtcLossAttrs{},
             "target length 2 of sample 1 is outside [0, 1]");
  s.AddError("too many behind one another", {x, Indices({1, 2, 3, 1, 1}), three, two},
             CtcLossAttrs{}, "target_lengths add up to 4 for 5 labels of targets");
  s.AddError("label", {x, Indices({1, 2, 4, 1}, {2, 2}), three, two}, CtcLossAttrs{},
             "label 4 at place 0 of sample 1 is outside [0, 4)");
  s.AddError("blank label", {x, Indices({1, 0, 3, 1}, {2, 2}), three, two}, CtcLossAttrs{},
             "label 0 at place 1 of sample 0 is the blank");
  s.AddError("blank", {x, t, three, two}, CtcLossAttrs{4}, "blank 4 is none of the 4 classes");
  s.AddError("rows", {x, Indices({1, 2, 3}, {3, 1}), three, two}, CtcLossAttrs{},
             "targets [3, 1] must have a row for each of the 2 samples of log_probs [3, 2, 4]");
  s.AddError("lengths", {x, t, three, Indices({1})}, CtcLossAttrs{},
             "target_lengths [1] must have a number for each of the 2 samples");
  s.AddError("ints", {Integers({3, 2, 4}, 0, 5), t, three, two}, CtcLossAttrs{},
             "log_probs must be f32, f64");
}

FIRN_REGISTER_SAMPLES(ctc_loss_grad) {
  s.Internal("the gradient of ctc_loss");
  s.Reference(GradReference);
  ForEachCall([&](const char* name, std::vector<Tensor> in, const CtcLossAttrs& a) {
    in.insert(in.begin(), Uniform(in[2].shape(), 0.5, 2, 7));
    s.Add(name, std::move(in), a);
  });
  s.AddLarge("T 200, N 32, C 80, S 40",
             {Normal({32}), Uniform({200, 32, 80}, -8, -1), Integers({32, 40}, 1, 80),
              Integers({32}, 200, 201), Integers({32}, 40, 41)},
             CtcLossAttrs{}, 0, 8.2e6);
  s.AddError("dy",
             {Normal({3}), Normal({3, 2, 4}), Indices({1, 2}), Indices({3, 3}), Indices({1, 1})},
             CtcLossAttrs{}, "dy must have a number for each of the 2 samples, got [3]");
}

// From logits, because PyTorch's gradient is right only after its log_softmax.
FIRN_REGISTER_GOLDEN(ctc_loss) {
  const CtcLossAttrs a = AttrsFrom<CtcLossAttrs>(args);
  return CtcLoss(LogSoftmax(args["logits"], -1), args["targets"], args["input_lengths"],
                 args["target_lengths"],
                 {.blank = a.blank,
                  .reduction = AttrsFrom<LossAttrs>(args).reduction,
                  .zero_infinity = a.zero_infinity});
}

}  // namespace
}  // namespace firn::testing

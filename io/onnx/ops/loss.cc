// Losses, and steps of optimizers.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "firn/io/onnx/internal/onnx_windows.h"
#include "firn/tensor/ops.h"

namespace firn::io::internal {
namespace {

Reduction ReductionOf(const OnnxCall& call) {
  const std::string text = call.OneOf("reduction", "mean", {"mean", "sum", "none"});
  return text == "mean" ? Reduction::kMean : text == "sum" ? Reduction::kSum : Reduction::kNone;
}

// Without the attribute nothing is ignored: no class has this number.
int64_t Ignored(const OnnxCall& call) {
  return call.Int("ignore_index", std::numeric_limits<int64_t>::min());
}

const OnnxOps kNll("NegativeLogLikelihoodLoss", 12, [](OnnxCall& call) -> Step {
  const Reduction reduction = ReductionOf(call);
  const int64_t ignored = Ignored(call);
  return One([=](In in) {
    return NllLoss(in[0], in[1].To(DType::kI64),
                   {.weight = At(in, 2), .ignore_index = ignored, .reduction = reduction});
  });
});

const OnnxOps kCrossEntropy("SoftmaxCrossEntropyLoss", 12, [](OnnxCall& call) -> Step {
  const Reduction reduction = ReductionOf(call);
  const int64_t ignored = Ignored(call);
  const bool logs = call.node.Wants(1);
  return [=](In in) {
    TensorList all = {
        CrossEntropy(in[0], in[1].To(DType::kI64),
                     {.weight = At(in, 2), .ignore_index = ignored, .reduction = reduction})};
    if (logs) all.push_back(LogSoftmax(in[0], 1));
    return all;
  };
});

// --- ai.onnx.preview.training: R, T, then n tensors, n gradients and n or 2 n states ------------

constexpr std::string_view kTraining = "ai.onnx.preview.training";

// One tensor's step: what it and its states become.
using Update =
    std::function<TensorList(const Tensor& rate, const Tensor& count, absl::Span<const Tensor> of)>;

Step StepOfEach(OnnxCall& call, size_t states, Update update) {
  const size_t each = 2 + states, rest = call.node.num_inputs() - 2;
  if (call.node.num_inputs() < 2 + each || rest % each != 0) {
    RefuseNode("a rate, a count and ", each, " inputs for each tensor are expected");
  }
  const size_t n = rest / each;
  return [=](In in) {
    TensorList all(n * (1 + states));
    for (size_t i = 0; i < n; ++i) {
      std::vector<Tensor> of;
      for (size_t j = 0; j < each; ++j) of.push_back(in[2 + j * n + i]);
      const TensorList made = update(in[0], in[1].To(of[0].dtype()), of);
      for (size_t j = 0; j < made.size(); ++j) all[j * n + i] = made[j];
    }
    return all;
  };
}

const OnnxOps kAdagrad("Adagrad", 1,
                       [](OnnxCall& call) -> Step {
                         const double decay = call.Float("decay_factor", 0),
                                      eps = call.Float("epsilon", 1e-6f);
                         const double norm = call.Float("norm_coefficient", 0);
                         return StepOfEach(
                             call, 1, [=](const Tensor& rate, const Tensor& count, In of) {
                               const Tensor grad = of[0] * norm + of[1], sum = of[2] + Square(grad);
                               const Tensor step =
                                   rate / (count * decay + 1) * grad / (Sqrt(sum) + eps);
                               return TensorList{of[0] - step, sum};
                             });
                       },
                       {.domain = kTraining});

const OnnxOps kMomentum(
    "Momentum", 1,
    [](OnnxCall& call) -> Step {
      const double alpha = call.Float("alpha"), beta = call.Float("beta");
      const double norm = call.Float("norm_coefficient");
      const bool nesterov = call.OneOf("mode", "standard", {"standard", "nesterov"}) == "nesterov";
      return StepOfEach(call, 1, [=](const Tensor& rate, const Tensor& count, In of) {
        const Tensor grad = of[0] * norm + of[1];
        const Tensor share = Where(Gt(count, 0), FullLike(count, beta), FullLike(count, 1));
        const Tensor moved = of[2] * alpha + grad * share;
        return TensorList{of[0] - rate * (nesterov ? grad + moved * alpha : moved), moved};
      });
    },
    {.domain = kTraining});

const OnnxOps kAdam("Adam", 1,
                    [](OnnxCall& call) -> Step {
                      const double alpha = call.Float("alpha", 0.9f),
                                   beta = call.Float("beta", 0.999f);
                      const double eps = call.Float("epsilon", 1e-6f),
                                   norm = call.Float("norm_coefficient", 0);
                      const double after = call.Float("norm_coefficient_post", 0);
                      return StepOfEach(
                          call, 2, [=](const Tensor& rate, const Tensor& count, In of) {
                            const Tensor grad = of[0] * norm + of[1];
                            const Tensor v = of[2] * alpha + grad * (1 - alpha);
                            const Tensor h = of[3] * beta + Square(grad) * (1 - beta);
                            const Tensor factor = Sqrt(1 - Exp(count * std::log(beta))) /
                                                  (1 - Exp(count * std::log(alpha)));
                            const Tensor corrected = Where(Gt(count, 0), factor, OnesLike(factor));
                            const Tensor x = of[0] - rate * corrected * (v / (Sqrt(h) + eps));
                            return TensorList{x * (1 - after), v, h};
                          });
                    },
                    {.domain = kTraining});

}  // namespace
}  // namespace firn::io::internal

// Batches count by their samples: the last one may be smaller.
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "firn/firn.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

// Eval mode, and back whatever happens.
class EvalScope {
 public:
  explicit EvalScope(nn::Module& net) : net_(net), training_(net.training()) { net.Eval(); }
  ~EvalScope() { net_.Train(training_); }
  EvalScope(const EvalScope&) = delete;
  EvalScope& operator=(const EvalScope&) = delete;

 private:
  nn::Module& net_;
  const bool training_;
};

}  // namespace

Evaluation Evaluate(nn::Layer& net, io::DataLoader& data, const EvaluateOptions& options) {
  const NoGradScope no_grad;
  const EvalScope eval(net);
  io::RunningMean loss;
  io::Metric metric = options.metric;
  if (!metric && !options.loss) metric = io::Accuracy();
  if (metric) metric.Reset();  // it may have seen something before
  data.SetEpoch(0);
  for (auto [input, target] : data) {
    const Tensor output = net(input);
    const auto samples = static_cast<double>(input.size(0));
    const Tensor value =
        options.loss ? options.loss(output, target) : inner::internal::DefaultLoss(output, target);
    loss.Update(value.Item(), samples);
    if (metric) metric.Update(output, target, samples);
  }
  Evaluation result = {.loss = loss.Value(), .samples = static_cast<int64_t>(loss.weight())};
  if (metric) result.metric = metric.Value();
  return result;
}

namespace inner::internal {

Tensor DefaultLoss(const Tensor& output, const Tensor& target) {
  const bool one_class = output.rank() < 2 ? output.shape() == target.shape() : output.size(1) == 1;
  if (one_class) {
    RaiseStatus(
        absl::InvalidArgumentError(absl::StrCat(
            "none is given, which stands for cross entropy, but the output is ",
            output.shape().ToString(),
            ": one number a sample, of which cross entropy is always"
            " 0. Give one: MseLoss or L1Loss for numbers, BinaryCrossEntropyWithLogits for yes"
            " and no, with targets of the output's shape (they are ",
            target.shape().ToString(), ")")),
        "loss");
  }
  return CrossEntropy(output, target);
}

}  // namespace inner::internal

}  // namespace firn

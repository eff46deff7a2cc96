// Batches count by their samples: the last one may be smaller.
#include "firn/firn.h"

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
  io::RunningMean loss, metric;
  data.SetEpoch(0);
  for (auto [input, target] : data) {
    const Tensor output = net(input);
    const auto samples = static_cast<double>(input.size(0));
    const Tensor value = options.loss ? options.loss(output, target) : CrossEntropy(output, target);
    loss.Update(value.Item(), samples);
    if (options.metric) {
      metric.Update(options.metric(output, target), samples);
    } else if (!options.loss) {
      io::Accuracy accuracy;
      accuracy.Update(output, target);
      metric.Update(accuracy.Value(), samples);
    }
  }
  return {loss.Value(), metric.Value(), static_cast<int64_t>(loss.weight())};
}

}  // namespace firn

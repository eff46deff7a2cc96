// Batches are weighted by their samples, since the last one may be smaller.
#include <cmath>
#include <string>
#include <typeinfo>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/comm/agreement.h"
#include "firn/firn.h"
#include "firn/fit_agreement.h"
#include "firn/nn/type_names.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

constexpr double kNear = 0.01;  // as half types and smoothing have shares

// Whether rows are shares; false for targets of unusual types or not on the host. A plain loop,
// since operations would slow down the steps of small networks.
bool AreShares(const Tensor& rows) {
  if (rows.rank() != 2 || rows.dtype() != DType::kF32 || !rows.is_contiguous()) return false;
  if (!rows.device().is_cpu()) return false;
  const auto shares = rows.host_view<float>();
  for (auto at = shares.begin(); at != shares.end();) {
    double sum = 0;
    for (const auto end = at + rows.size(1); at != end; ++at) {
      if (!(*at >= -kNear)) return false;
      sum += *at;
    }
    if (!(std::abs(sum - 1) <= kNear)) return false;
  }
  return true;
}

}  // namespace

Evaluation Evaluate(nn::Module& net, io::DataLoader& data, const EvaluateOptions& options) {
  const ForwardFunction forward =
      inner::internal::CheckedForward(net, options.forward, options.loss, "evaluate");
  data.SetEpoch(0);
  if (options.ranks != nullptr) {
    RaiseIfError(comm::CheckAgreement(*options.ranks,
                                      {inner::internal::DescribeLoader("data", data),
                                       options.metric ? "a metric" : "no metric of its own"}),
                 "evaluate");
  }
  const NoGradScope no_grad;
  const nn::EvalScope eval(net);
  io::RunningMean loss;
  io::Metric metric = options.metric;
  if (!metric && !options.loss && !options.forward) metric = io::Accuracy();
  if (metric) metric.Reset();  // it may have seen something before
  for (const io::Sample& batch : data) {
    if (!options.forward) inner::internal::CheckPair(batch, options.loss);
    if (batch.input.size(0) == 0) continue;  // of a rank that has run out of samples
    const BatchResult result = forward(batch);
    const auto samples = static_cast<double>(batch.input.size(0));
    loss.Update(result.loss.Item(), samples);
    if (!metric) continue;
    if (!result.output.defined()) {
      RaiseStatus(absl::InvalidArgumentError(
                      "there is a metric, but forward gives a loss alone (want an output, too, and "
                      "a target: BatchResult)"),
                  "evaluate");
    }
    metric.Update(result.output, result.target, samples);
  }
  if (options.ranks != nullptr) {
    loss = io::MergeRanks(loss, *options.ranks);
    if (metric) metric = metric.MergeRanks(*options.ranks);
  }
  Evaluation result = {.loss = loss.Value(), .samples = static_cast<int64_t>(loss.weight())};
  if (metric) result.metric = metric.Value();
  return result;
}

namespace inner::internal {

ForwardFunction CheckedForward(nn::Module& net, const ForwardFunction& forward,
                               const LossFunction& loss, const char* who) {
  const auto want = [who](bool ok, const auto&... what) {
    if (!ok) RaiseStatus(absl::InvalidArgumentError(absl::StrCat(what...)), who);
  };
  want(!loss || !forward, "there are a loss and a forward, which gives one (want one of them)");
  if (forward) return forward;
  auto* const layer = dynamic_cast<nn::Layer*>(&net);
  want(
      layer != nullptr, nn::ClassName(typeid(net)),
      " is no nn::Layer, which is called with one tensor (forward of the options says what becomes "
      "of a batch)");
  return [layer, loss](const io::Sample& batch) -> BatchResult {
    const Tensor output = (*layer)(batch.input);
    return {loss ? loss(output, batch.target) : DefaultLoss(output, batch.target), output,
            batch.target};
  };
}

void CheckPair(const io::Sample& batch, const LossFunction& loss) {
  if (batch.size() != 2) {
    RaiseStatus(absl::InvalidArgumentError(absl::StrCat(
                    "expected two tensors, an input and a target, got ",
                    absl::StrJoin(batch.variables(), ", "),
                    ". FitOptions::forward and EvaluateOptions::forward say what becomes of others,"
                    " io::Pick takes two of them")),
                "batch");
  }
  if (!loss) CheckShares(batch.target);
}

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

void CheckShares(const Tensor& target) {
  if (!IsFloating(target.dtype()) || target.rank() < 2 || target.num_elements() == 0) return;
  if (target.size(1) == 1) return;  // which DefaultLoss refuses
  if (AreShares(target)) return;
  const NoGradScope no_grad;
  const Tensor shares = target.To(DType::kF64), sums = Sum(shares, 1);
  const double least = Min(shares).Item();
  const double far = Max(Abs(sums - 1)).Item();
  if (least >= -kNear && far <= kNear) return;
  const std::string found = least >= -kNear && far == far
                                ? absl::StrCat("a sum that is ", far, " from 1")
                                : absl::StrCat(least, " among them");
  RaiseStatus(
      absl::InvalidArgumentError(absl::StrCat(
          "none is given, which stands for cross entropy, whose ", DTypeName(target.dtype()),
          " targets ", target.shape().ToString(),
          " would be the shares of classes in a sample, which add up to 1, but there is ", found,
          ". Give one: MseLoss or L1Loss for numbers, BinaryCrossEntropyWithLogits for classes"
          " that each are there or not")),
      "loss");
}

}  // namespace inner::internal

}  // namespace firn

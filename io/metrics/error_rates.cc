// The functions give 0 or 1 for each place, on the device of the predictions; here these are
// counted. Ignored places are given class 0 there, and are passed over here.
#include "firn/io/metrics/error_rates.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/metrics/internal/class_ids.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/format.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops.h"

namespace firn::io {
namespace {

constexpr char kTopN[] = "TopNError";
constexpr char kBinary[] = "BinaryError";

double Share(int64_t wrong, int64_t count) {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN()
                    : static_cast<double>(wrong) / static_cast<double>(count);
}

std::string Described(const Tensor& t) { return t.shape().ToString() + " " + DTypeName(t.dtype()); }

void RequireNumbers(const Tensor& t, const char* what, const char* who) {
  if (!IsFloating(t.dtype()) || t.num_elements() == 0 || !Any(Isnan(t)).Item<bool>()) return;
  RaiseStatus(
      InvalidArgument("a ", what, " is NaN: the network has diverged, or its inputs hold NaN"),
      who);
}

}  // namespace

TopNError::TopNError(const TopNErrorOptions& options) : options_(options) {
  if (options.n < 1) RaiseStatus(InvalidArgument("n is ", options.n, " (want >= 1)"), kTopN);
}

void TopNError::Update(const Tensor& predictions, const Tensor& labels) {
  const NoGradScope no_grad;
  internal::RequireScores(predictions, labels, kTopN);
  RequireNumbers(predictions, "score", kTopN);
  const std::vector<int64_t> truth = labels.ToVector<int64_t>();
  if (truth.empty()) return;
  std::vector<int64_t> asked = truth;
  for (int64_t& label : asked) {
    if (label == options_.ignore_label) {
      label = 0;
    } else {
      internal::RequireClass(label, predictions.size(1), "label", kTopN);
    }
  }
  const Tensor target = FromVector(std::move(asked), labels.shape()).To(predictions.device());
  const std::vector<double> wrong =
      firn::TopNError(predictions, target, 1, options_.n).ToVector<double>();
  for (size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == options_.ignore_label) continue;
    wrong_ += wrong[i] != 0 ? 1 : 0;
    ++count_;
  }
}

double TopNError::Value() const { return Share(wrong_, count_); }

void TopNError::Merge(const TopNError& other) {
  if (other.options_.n != options_.n) {
    RaiseStatus(
        InvalidArgument("cannot merge counts of n = ", other.options_.n, " into n = ", options_.n),
        kTopN);
  }
  wrong_ += other.wrong_;
  count_ += other.count_;
}

void BinaryError::Update(const Tensor& predictions, const Tensor& targets) {
  const NoGradScope no_grad;
  if (!IsFloating(predictions.dtype()) || predictions.shape() != targets.shape()) {
    RaiseStatus(
        InvalidArgument("predictions are ", Described(predictions), " and targets ",
                        Described(targets), " (want probabilities and targets of one shape)"),
        kBinary);
  }
  RequireNumbers(predictions, "prediction", kBinary);
  RequireNumbers(targets, "target", kBinary);
  const Tensor wrong = firn::BinaryError(predictions, targets.To(predictions.device()));
  // Counted as integers: a sum in a half type would stop growing at 2048 or 256.
  wrong_ += Sum(Cast(wrong, DType::kI64)).Item<int64_t>();
  count_ += predictions.num_elements();
}

double BinaryError::Value() const { return Share(wrong_, count_); }

void BinaryError::Merge(const BinaryError& other) {
  wrong_ += other.wrong_;
  count_ += other.count_;
}

}  // namespace firn::io

// Standardize: Welford's sums in f64, since differences of large sums would lose the deviation. The
// buffers are written as a state dict is loaded, which gives pending ones their size.

#include "firn/nn/standardize.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/nn/sizes.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/compare/classify.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"

namespace firn::nn {
namespace {

constexpr char kLayer[] = "nn::Standardize";

}  // namespace

Standardize::Standardize(const Options& options)
    : LayerWithOptions(options),
      mean_(AddPendingBuffer("mean", {kDeferred})),
      std_(AddPendingBuffer("std", {kDeferred})) {}

void Standardize::Fit(const Tensor& x) { Add(x, {}); }

void Standardize::Update(const Tensor& x) { Add(x, moments_); }

void Standardize::Add(const Tensor& x, std::vector<Moments> moments) {
  const auto features = static_cast<size_t>(SizeOfInput(kLayer, x, -1));
  if (features == 0 || x.num_elements() == 0) {
    RaiseStatus(InvalidArgument("expected rows of features, x is ", x.shape().ToString()), kLayer);
  }
  const size_t wanted = !moments.empty()   ? moments.size()
                        : IsPending(mean_) ? features
                                           : static_cast<size_t>(mean_.size(0));
  if (features != wanted) {
    RaiseStatus(InvalidArgument("has ", wanted, " features, x is ", x.shape().ToString()), kLayer);
  }
  moments.resize(features);
  size_t feature = 0;
  for (const double value : x.ToVector<double>()) {
    Moments& m = moments[feature];
    feature = feature + 1 == features ? 0 : feature + 1;
    if (std::isnan(value) && options().fill_missing) continue;
    if (!std::isfinite(value)) {
      RaiseStatus(InvalidArgument("expected finite values, x has ", value,
                                  std::isnan(value) ? " (StandardizeOptions::fill_missing)" : ""),
                  kLayer);
    }
    const double step = value - m.mean;
    m.mean += step / static_cast<double>(++m.count);
    m.squares += step * (value - m.mean);
  }
  std::vector<double> mean, deviation;
  constexpr double kMost = std::numeric_limits<float>::max();
  for (const Moments& m : moments) {
    const double s = m.count == 0 ? 0 : std::sqrt(m.squares / static_cast<double>(m.count));
    // This way round, since sums that overflowed may be NaN.
    if (!(std::abs(m.mean) <= kMost && s <= kMost)) {
      RaiseStatus(InvalidArgument("expected means and deviations that f32 can hold, feature ",
                                  mean.size(), " of x has ", m.mean, " and ", s),
                  kLayer);
    }
    mean.push_back(m.mean);
    // The buffer is f32, where the smallest deviations are 0.
    deviation.push_back(static_cast<float>(s) > 0 ? s : 1);
  }
  StateDict state;
  state.Insert("mean", FromVector(std::move(mean)));
  state.Insert("std", FromVector(std::move(deviation)));
  LoadStateDict(state);
  moments_ = std::move(moments);
}

Tensor Standardize::Forward(const Tensor& x) {
  if (Pends(mean_, std_)) [[unlikely]] {
    RaiseStatus(FailedPrecondition("there are no means and deviations yet (Fit or Update takes "
                                   "them from the training data, a state dict has them)"),
                kLayer);
  }
  Tensor y = Div(Sub(x, mean_), std_);
  if (!options().fill_missing) return y;
  return MaskedFill(y, Isnan(x), 0);
}

std::string Standardize::Describe() const {
  const std::string options = LayerWithOptions::Describe();
  const std::string features = IsPending(mean_) ? "?" : absl::StrCat(mean_.size(0));
  return options.empty() ? features : absl::StrCat(features, ", ", options);
}

}  // namespace firn::nn

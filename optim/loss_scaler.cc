// Scale, count of good steps and `found` stay on the device. The operations unscale_gradients and
// update_loss_scale read and write them there, and an optimizer's step reads `found` itself.

#include "firn/optim/loss_scaler.h"

#include <cmath>
#include <utility>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/optim/own_gradients.h"
#include "firn/optim/state_reader.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/compare/logical.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/scale.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"

namespace firn::optim {
namespace {

constexpr const char* kName = "loss scaler";

void Check(const LossScalerOptions& o) {
  if (o.init_scale > 0 && std::isfinite(static_cast<float>(o.init_scale)) && o.growth_factor > 1 &&
      o.backoff_factor > 0 && o.backoff_factor < 1 && o.growth_interval >= 1 &&
      std::isnormal(static_cast<float>(o.min_scale)) && o.min_scale > 0) {
    return;
  }
  RaiseStatus(
      InvalidArgument("init_scale ", o.init_scale, " (want > 0), growth_factor ", o.growth_factor,
                      " (want > 1), backoff_factor ", o.backoff_factor,
                      " (want 0 to 1), growth_interval ", o.growth_interval,
                      " (want >= 1), min_scale ", o.min_scale, " (want a normal number > 0)"),
      kName);
}

template <class T>
Tensor Scalar(T value) {
  return FromVector(std::vector<T>{value}, Shape());
}

// a or b, on a's device.
Tensor Either(const Tensor& a, const Tensor& b) {
  return a.defined() ? LogicalOr(a, b.To(a.device())) : b;
}

}  // namespace

LossScaler::LossScaler(const LossScalerOptions& options) : options_(options) {
  Check(options);
  const NoCaptureScope no_capture;
  scale_ = Scalar(static_cast<float>(options.init_scale));
  good_steps_ = Scalar<int64_t>(0);
  skipped_ = Zeros(Shape(), DType::kBool);
}

double LossScaler::scale() const { return scale_.Item(); }

bool LossScaler::skipped() const {
  if (found_.empty()) return skipped_.Item() != 0;
  bool any = false;
  for (const auto& [optimizer, found] : found_) any |= found.Item() != 0;
  return any;
}

void LossScaler::MoveTo(Device device) {
  if (scale_.device() == device || !scale_.device().is_cpu()) return;
  const NoCaptureScope no_capture;  // a captured step finds them where they stay
  const NoGradScope no_grad;
  scale_ = scale_.To(device);
  good_steps_ = good_steps_.To(device);
  skipped_ = skipped_.To(device);
}

Tensor LossScaler::Scale(const Tensor& loss) {
  MoveTo(loss.device());
  return Mul(loss, scale_.To(loss.device()));
}

const Tensor* LossScaler::FoundOf(const Optimizer& optimizer) const {
  for (const auto& [other, found] : found_) {
    if (other == &optimizer) return &found;
  }
  return nullptr;
}

void LossScaler::Unscale(Optimizer& optimizer) {
  if (FoundOf(optimizer) != nullptr) {
    RaiseStatus(FailedPrecondition("these gradients were divided by the scale before; call Update"
                                   " between steps"),
                kName);
  }
  const NoGradScope no_grad;
  std::vector<std::vector<Tensor>> by_device;
  for (const Tensor& grad : OwnGrads(optimizer.parameters())) {
    size_t at = 0;
    while (at < by_device.size() && by_device[at][0].device() != grad.device()) ++at;
    if (at == by_device.size()) by_device.emplace_back();
    by_device[at].push_back(grad);
  }
  Tensor found;
  for (const std::vector<Tensor>& grads : by_device) {
    found = Either(found, UnscaleGradients(grads, scale_.To(grads[0].device())));
  }
  if (!found.defined()) found = Zeros(Shape(), DType::kBool, scale_.device());
  found = OnAnyRank(found, options_.global);
  found_.emplace_back(&optimizer, found.To(scale_.device()));
}

void LossScaler::Step(Optimizer& optimizer) {
  if (FoundOf(optimizer) == nullptr) Unscale(optimizer);
  optimizer.Step(*FoundOf(optimizer));
}

void LossScaler::Update() {
  if (found_.empty()) {
    RaiseStatus(FailedPrecondition("Update without a Step since the last one"), kName);
  }
  const NoGradScope no_grad;
  Tensor any;
  for (const auto& [optimizer, found] : found_) any = Either(any, found);
  UpdateLossScale(scale_, good_steps_, skipped_, any,
                  {.growth_factor = options_.growth_factor,
                   .backoff_factor = options_.backoff_factor,
                   .growth_interval = options_.growth_interval,
                   .min_scale = options_.min_scale});
  found_.clear();
}

StateDict LossScaler::state_dict() const {
  CheckDefined(scale_, kName, "the scale of a scaler that was moved from");
  StateDict state;
  state.Insert("scale", scale_.Detach());
  state.Insert("growth_factor", Scalar(options_.growth_factor));
  state.Insert("backoff_factor", Scalar(options_.backoff_factor));
  state.Insert("growth_interval", Scalar(options_.growth_interval));
  state.Insert("_growth_tracker", good_steps_.Detach());
  return state;
}

void LossScaler::LoadStateDict(const StateDict& state) {
  CheckDefined(scale_, kName, "the scale of a scaler that was moved from");
  StateReader reader(state);
  const double scale = reader.NeedNumber("scale"), growth = reader.NeedNumber("growth_factor"),
               backoff = reader.NeedNumber("backoff_factor");
  const int64_t interval = reader.NeedCount("growth_interval");
  const int64_t good_steps = reader.NeedCount("_growth_tracker");
  reader.Finish(kName);
  const LossScalerOptions options = {.init_scale = scale,
                                     .growth_factor = growth,
                                     .backoff_factor = backoff,
                                     .growth_interval = interval,
                                     .min_scale = options_.min_scale,
                                     .global = options_.global};
  Check(options);
  options_ = options;
  // In place: captured steps read them where they lie.
  const NoCaptureScope no_capture;
  const NoGradScope no_grad;
  Assign(scale_, Scalar(static_cast<float>(scale)).To(scale_.device()));
  Assign(good_steps_, Scalar(good_steps).To(good_steps_.device()));
}

}  // namespace firn::optim

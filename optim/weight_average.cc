// Averages keep their memory, and the device computes from the number of updates how much a
// parameter counts, so that a captured update works like an ordinary one.

#include "firn/optim/weight_average.h"

#include <set>
#include <string>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/optim/state_reader.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/power.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/pending.h"

namespace firn::optim {
namespace {
constexpr const char* kName = "WeightAverage";
}  // namespace

WeightAverage::WeightAverage(const ParameterList& parameters, const WeightAverageOptions& options)
    : options_(options), parameters_(parameters.named()) {
  if (!(options.decay >= 0 && options.decay < 1)) {
    RaiseStatus(InvalidArgument("decay ", options.decay, " must be in [0, 1)"), kName);
  }
  std::set<std::string> names;
  for (const NamedTensor& p : parameters_) {
    if (!names.insert(p.name).second) {
      RaiseStatus(InvalidArgument("two parameters are named ", p.name), kName);
    }
    if (p.tensor.defined() && IsFloating(p.tensor.dtype())) continue;
    RaiseStatus(InvalidArgument("parameter ", p.name,
                                p.tensor.defined() ? " is not floating" : " is undefined"),
                kName);
  }
  for (const NamedTensor& p : parameters_) replaced_.push_back(inner::ReplacedFlag(p.tensor));
}

// A parameter that a module still has, as the original of a parametrization, is averaged as before.
void WeightAverage::CheckParts() const {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, p] = parameters_[i];
    if (!inner::IsSet(replaced_[i]) || p.impl()->owned) continue;
    RaiseStatus(FailedPrecondition("parameter ", name,
                                   " is none of its module any more: parametrize::Register,"
                                   " RemoveParametrizations or ShareParameter put another one in"
                                   " its place; make a WeightAverage of the present parameters"),
                kName);
  }
}

void WeightAverage::Prepare() {
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, p] = parameters_[i];
    if (IsPending(p)) RaiseStatus(PendingError(p), kName);
    // This average was loaded before the parameter had its size.
    if (averages_.empty() || averages_[i].shape() == p.shape()) continue;
    RaiseStatus(FailedPrecondition("the average of ", name, " is ", averages_[i].shape().ToString(),
                                   ", the parameter ", p.shape().ToString()),
                kName);
  }
  if (!averages_.empty()) return;
  const NoCaptureScope no_capture;  // a captured update finds them where they stay
  std::vector<Tensor> averages;
  for (const auto& [name, p] : parameters_) {
    averages.push_back(Zeros(p.shape(), inner::ComputeDType(p.dtype()), p.device()));
  }
  updates_ = Zeros(Shape(), DType::kI64, FirstDevice());
  averages_ = std::move(averages);
}

Device WeightAverage::FirstDevice() const {
  return parameters_.empty() ? Device::Cpu() : parameters_[0].tensor.device();
}

void WeightAverage::Update() {
  if (!own_.empty()) {
    RaiseStatus(FailedPrecondition("the averages stand where the parameters lie; swap first"),
                kName);
  }
  CheckParts();
  const NoGradScope no_grad;
  Prepare();
  const Tensor taken = Cast(updates_, DType::kF64);
  const Tensor share = options_.decay == 0 ? Reciprocal(Add(taken, 1))
                                           : Where(Eq(taken, 0), OnesLike(taken),
                                                   FullLike(taken, 1 - options_.decay));
  Tensor weight;  // nearly always one for all
  for (size_t i = 0; i < averages_.size(); ++i) {
    const Tensor &average = averages_[i], &p = parameters_[i].tensor;
    if (!weight.defined() || weight.dtype() != average.dtype() ||
        weight.device() != average.device()) {
      weight = Cast(share.To(average.device()), average.dtype());
    }
    Assign(average, Lerp(average, Cast(p.To(average.device()), average.dtype()), weight));
  }
  Assign(updates_, Add(updates_, 1));
}

void WeightAverage::Swap() {
  if (averages_.empty() || (own_.empty() && updates_.Item() == 0)) {
    RaiseStatus(FailedPrecondition("there is no average before the first Update"), kName);
  }
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("Swap would run once, while the step is captured; call it"
                                   " between steps"),
                kName);
  }
  const NoGradScope no_grad;
  const bool back = !own_.empty();
  if (!back) CheckParts();
  Prepare();
  std::vector<Tensor> own;
  for (const auto& [name, p] : parameters_) {
    if (!back) own.push_back(Clone(p));
  }
  for (size_t i = 0; i < averages_.size(); ++i) {
    const Tensor& p = parameters_[i].tensor;
    Assign(p, (back ? own_[i] : averages_[i]).To(p.device()));
  }
  own_ = std::move(own);
}

WeightAverage::Scope::~Scope() {
  try {
    average_.Swap();
  } catch (...) {  // out of memory: destructors must not throw
  }
}

StateDict WeightAverage::state_dict() const {
  StateDict state;
  if (averages_.empty()) return state;
  state.Insert("updates", updates_.Detach());
  for (size_t i = 0; i < averages_.size(); ++i) {
    state.Insert("average." + parameters_[i].name, averages_[i].Detach());
  }
  return state;
}

void WeightAverage::LoadStateDict(const StateDict& state) {
  const NoGradScope no_grad;
  if (state.empty()) {
    for (const Tensor& average : averages_) Assign(average, ZerosLike(average));
    if (updates_.defined()) Assign(updates_, ZerosLike(updates_));
    return;
  }
  StateReader reader(state);
  const int64_t updates = reader.NeedCount("updates");
  std::vector<Tensor> loaded;
  for (const auto& [name, p] : parameters_) {
    loaded.push_back(reader.Need("average." + name));
    if (!loaded.back().defined() || IsPending(p) || loaded.back().shape() == p.shape()) continue;
    reader.Problem("average." + name + " is " + loaded.back().shape().ToString() + ", not " +
                   p.shape().ToString());
  }
  reader.Finish(kName);
  std::vector<Tensor> averages = averages_;
  averages.resize(loaded.size());
  {
    const NoCaptureScope no_capture;  // as in Prepare
    for (size_t i = 0; i < loaded.size(); ++i) {
      const Tensor& p = parameters_[i].tensor;
      Tensor& average = averages[i];
      if (!average.defined() || average.shape() != loaded[i].shape()) {
        average = Zeros(loaded[i].shape(), inner::ComputeDType(p.dtype()), p.device());
      }
    }
    if (!updates_.defined()) updates_ = Zeros(Shape(), DType::kI64, FirstDevice());
  }
  averages_ = std::move(averages);
  for (size_t i = 0; i < loaded.size(); ++i) {
    Assign(averages_[i], loaded[i].To(averages_[i].device()));
  }
  Assign(updates_, StateCount(updates).To(updates_.device()));
}

}  // namespace firn::optim

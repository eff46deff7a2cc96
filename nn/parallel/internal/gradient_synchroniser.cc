// Which collectives a pass starts depends on nothing that ranks may have of their own: all buckets
// in their order, then a byte for each leaf that says whether anybody has found a gradient. What a
// rank has not found it gives as zeros.
//
// The first pass reduces at its end, since only then the order is known in which gradients become
// final. So all passes, also the first of a run that goes on, have the same buckets and the same
// bits, in whatever order a library adds within one.

#include "firn/nn/parallel/internal/gradient_synchroniser.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/copies.h"

namespace firn::nn::parallel::internal {
namespace {

constexpr const char* kWho = "data_parallel";

}  // namespace

GradientSynchroniser::GradientSynchroniser(std::vector<NamedTensor> trained,
                                           std::vector<NamedTensor> frozen,
                                           std::shared_ptr<comm::Communicator> comm,
                                           const BucketOptions& options)
    : trained_(std::move(trained)),
      frozen_(std::move(frozen)),
      comm_(std::move(comm)),
      options_(options),
      local_(trained_.size()),
      here_(trained_.size(), 0),
      used_(trained_.size(), 0),
      samples_of_(static_cast<size_t>(comm_->size()), 1) {
  for (const NamedTensor& t : trained_) {
    number_of_[t.tensor.impl()] = leaves_.size();
    leaves_.push_back(t.tensor);
  }
  found_.reserve(leaves_.size());
}

void GradientSynchroniser::CheckFrozen() const {
  for (const NamedTensor& t : frozen_) {
    if (!t.tensor.requires_grad()) continue;
    RaiseStatus(FailedPrecondition("parameter ", t.name,
                                   " was frozen when this was made, and is trained now: make "
                                   "another DataParallel of the network"),
                kWho);
  }
}

void GradientSynchroniser::Begin() {
  if (inner::ThisThread().capture != nullptr) {
    RaiseStatus(Unimplemented("a step that is captured cannot reduce gradients among ranks yet: "
                              "run it without Freeze"),
                kWho);
  }
  if (inner::ThisThread().grad_enabled) {
    RaiseStatus(Unimplemented("a pass that is recorded itself (create_graph) is not reduced"),
                kWho);
  }
  CheckFrozen();
  synchronised_ = no_sync_ == 0;
  factor_ = TakeFactor();
  in_pass_ = true;
}

double GradientSynchroniser::TakeFactor() {
  if (weighing_ != nullptr) {
    const absl::Status status = std::exchange(weighing_, nullptr)->Wait();
    RaiseIfError(status, kWho);
  }
  const double mine = std::exchange(samples_, 1);
  double sum = 0;
  for (size_t rank = 0; rank < samples_of_.size(); ++rank) {
    const double samples = std::exchange(samples_of_[rank], 1);
    if (!(samples >= 0) || !std::isfinite(samples)) {
      RaiseStatus(InvalidArgument("rank ", rank, " has a weight of ", samples,
                                  " samples (want a finite number >= 0)"),
                  kWho);
    }
    sum += samples;
  }
  if (sum == 0) RaiseStatus(InvalidArgument("no rank has a sample: all weights are 0"), kWho);
  return mine * comm_->size() / sum;
}

void GradientSynchroniser::Ready(const Tensor& leaf, Tensor& grad) {
  if (!in_pass_) Begin();
  const size_t number = number_of_.at(leaf.impl());
  if (!grad.defined()) return;
  here_[number] = 1;
  found_.push_back({number, grad});
  if (!synchronised_) {
    grad = Tensor();
  } else if (!alone() && buckets_) {
    buckets_->Put(number, Part(found_.back()));
  }
}

Tensor GradientSynchroniser::Part(const Found& found) const {
  const Tensor& local = local_[found.leaf];
  if (factor_ == 0) return local;  // what was found may be no number
  const Tensor weighted = factor_ == 1 ? found.grad : Mul(found.grad, factor_);
  return local.defined() ? Add(local, weighted) : weighted;
}

void GradientSynchroniser::Finish() {
  if (!synchronised_) return KeepLocal();
  if (alone()) {
    for (const Found& f : found_) {
      if (local_[f.leaf].defined()) inner::Accumulate(f.grad, local_[f.leaf]);
    }
    std::transform(local_.begin(), local_.end(), used_.begin(),
                   [](const Tensor& t) { return t.defined(); });
  } else {
    Reduce();
  }
  std::vector<Found> late = Late();
  // From here on nothing fails.
  for (Found& f : late) leaves_[f.leaf].SetGrad(std::move(f.grad));
  DropLocal();
  Reset();
}

void GradientSynchroniser::KeepLocal() {
  std::vector<Found> sums;
  for (const Found& f : found_) sums.push_back({f.leaf, Part(f)});
  for (Found& sum : sums) local_[sum.leaf] = std::move(sum.grad);
  Reset();
}

void GradientSynchroniser::Reduce() {
  if (!buckets_) MakeBuckets();
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    used_[leaf] = here_[leaf] != 0 || local_[leaf].defined() ? 1 : 0;
    if (here_[leaf] == 0 && local_[leaf].defined()) buckets_->Put(leaf, local_[leaf]);
  }
  buckets_->PutRest();
  const auto any = comm_->Start({.kind = comm::CollectiveKind::kAllReduce,
                                 .element = comm::Element::kU8,
                                 .reduction = comm::Reduction::kMax,
                                 .count = static_cast<int64_t>(used_.size()),
                                 .in = used_.data(),
                                 .out = used_.data()});
  RaiseIfError(any.status(), kWho);
  buckets_->Wait();
  RaiseIfError((*any)->Wait(), kWho);
  for (const Found& f : found_) inner::Assign(f.grad, buckets_->Mean(f.leaf));
}

void GradientSynchroniser::MakeBuckets() {
  buckets_.emplace(leaves_, OrderOfFirstRank(), options_, comm_);
  for (const Found& f : found_) buckets_->Put(f.leaf, Part(f));
}

// As leaves became final; those that this pass did not reach follow, the last defined first.
std::vector<int64_t> GradientSynchroniser::OrderOfFirstRank() const {
  std::vector<int64_t> order;
  for (const Found& f : found_) order.push_back(static_cast<int64_t>(f.leaf));
  for (size_t leaf = leaves_.size(); leaf-- > 0;) {
    if (here_[leaf] == 0) order.push_back(static_cast<int64_t>(leaf));
  }
  RaiseIfError(
      comm_->Broadcast(order.data(), static_cast<int64_t>(order.size()), comm::Element::kI64, 0),
      kWho);
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] == static_cast<int64_t>(i)) continue;
    RaiseStatus(DataLoss("the order of parameters came from rank 0 without number ", i), kWho);
  }
  return order;
}

std::vector<GradientSynchroniser::Found> GradientSynchroniser::Late() const {
  std::vector<Found> late;
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (here_[leaf] != 0 || used_[leaf] == 0) continue;
    const Tensor mean = alone() ? local_[leaf] : buckets_->Mean(leaf);
    const Tensor own =
        mean.dtype() == leaves_[leaf].dtype() ? Clone(mean) : Cast(mean, leaves_[leaf].dtype());
    const Tensor& present = leaves_[leaf].grad();
    late.push_back({leaf, present.defined() ? Add(present, own) : own});
  }
  return late;
}

void GradientSynchroniser::Cancel() noexcept {
  if (!in_pass_) return;
  if (synchronised_ && !alone()) {
    try {
      comm_->Abort("its backward pass failed");
    } catch (...) {  // no memory for saying so: the others' timeout does
    }
  }
  Reset();
}

void GradientSynchroniser::Reset() noexcept {
  if (buckets_) buckets_->Reset();
  found_.clear();
  std::fill(here_.begin(), here_.end(), uint8_t{0});
  std::fill(used_.begin(), used_.end(), uint8_t{0});
  in_pass_ = false;
}

void GradientSynchroniser::DropLocal() {
  for (Tensor& t : local_) t = Tensor();
}

void GradientSynchroniser::SetWeight(double samples) {
  weighing_.reset();  // of a pass that did not come
  samples_ = samples;
  samples_of_[0] = samples;
  if (alone()) return;
  auto started = comm_->Start({.kind = comm::CollectiveKind::kAllGather,
                               .element = comm::Element::kF64,
                               .count = 1,
                               .in = &samples_,
                               .out = samples_of_.data()});
  RaiseIfError(started.status(), kWho);
  weighing_ = *std::move(started);
}

}  // namespace firn::nn::parallel::internal

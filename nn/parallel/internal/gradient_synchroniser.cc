// Which collectives a pass starts depends on nothing that ranks may have of their own: all buckets
// in their order, then a byte for each leaf that says whether anybody has found a gradient. What a
// rank has not found it gives as zeros.
//
// The first pass reduces at its end, since only then the order is known in which gradients become
// final. So all passes, also the first of a run that goes on, have the same buckets and the same
// bits, in whatever order a library adds within one. A first pass that is captured cannot: every
// run of its graph would reduce at its end, so it takes the order of definition, backwards.
//
// Uneven ranks are weighted where the pass begins, by its seeds, and not where gradients are
// reduced: what passes from rank to rank within the pass, as in a batch norm over ranks, is then
// part of the weighted sum of losses, too.
//
// Note [Gradients in buckets]. Once there are buckets, a pass goes on with the leaf's place in them
// as its gradient, which becomes the mean in place. The sweep adds it to grad(), or copies it
// there, when the pass is over; what the pass had found is free at once. Where a leaf is alone in
// its bucket the gradient itself is reduced, and kept.

#include "firn/nn/parallel/internal/gradient_synchroniser.h"

#include <algorithm>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/ops/create/constant.h"
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
                                           std::shared_ptr<comm::Communicator> comm, int64_t group,
                                           const BucketOptions& options)
    : trained_(std::move(trained)),
      frozen_(std::move(frozen)),
      comm_(std::move(comm)),
      group_(group),
      options_(options),
      local_(trained_.size()),
      here_(trained_.size(), 0),
      used_(trained_.size(), 0),
      flags_(Zeros({2 * static_cast<int64_t>(trained_.size())}, DType::kU8,
                   trained_.empty() ? Device::Cpu() : trained_[0].tensor.device())),
      flags_reduction_(comm::Reduction::kMax, group),
      weights_(comm_) {
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

// A captured pass has none: Begin refuses them on all ranks.
std::optional<double> GradientSynchroniser::Weight() {
  weights_.Take();
  asked_ = true;
  return inner::ThisThread().capture == nullptr ? weights_.factor() : std::nullopt;
}

void GradientSynchroniser::Begin() {
  asked_ = false;
  if (GradEnabled()) {
    RaiseStatus(Unimplemented("a pass that is recorded itself (create_graph) is not reduced"),
                kWho);
  }
  CheckFrozen();
  synchronised_ = no_sync_ == 0;
  captured_ = inner::ThisThread().capture != nullptr;
  if (captured_) BeginCaptured();
  in_pass_ = true;
}

// What runs of the graph would not do is refused.
void GradientSynchroniser::BeginCaptured() {
  const bool waits =
      std::any_of(local_.begin(), local_.end(), [](const Tensor& t) { return t.defined(); });
  if (!synchronised_ || waits) {
    RaiseStatus(Unimplemented("gradients of passes without synchronisation cannot be part of a "
                              "captured step: run it without Freeze"),
                kWho);
  }
  if (weights_.uneven()) {
    RaiseStatus(Unimplemented("a captured step cannot weigh ranks (SetWeight), each run would "
                              "alike: run it without Freeze"),
                kWho);
  }
  any_captured_ = true;
  if (alone() || buckets_) return;
  const NoCaptureScope no_capture;
  MakeBuckets();
}

void GradientSynchroniser::Ready(const Tensor& leaf, Tensor& grad) {
  if (!in_pass_) Begin();
  const size_t number = number_of_.at(leaf.impl());
  if (!grad.defined()) return;
  here_[number] = 1;
  if (!synchronised_) {
    found_.push_back({number, std::exchange(grad, Tensor())});
  } else if (alone() || !buckets_) {
    found_.push_back({number, grad});
  } else {
    buckets_->Put(number, Part({number, grad}));
    const Tensor& mean = buckets_->Mean(number);
    if (mean.dtype() == grad.dtype()) {
      grad = mean;  // Note [Gradients in buckets]
    } else {
      found_.push_back({number, grad});
    }
  }
}

Tensor GradientSynchroniser::Part(const Found& found) const {
  const Tensor& local = local_[found.leaf];
  return local.defined() ? Add(local, found.grad) : found.grad;
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
  if (!buckets_) {
    MakeBuckets();
    for (const Found& f : found_) buckets_->Put(f.leaf, Part(f));
  }
  for (size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    used_[leaf] = here_[leaf] != 0 || local_[leaf].defined() ? 1 : 0;
    if (here_[leaf] == 0 && local_[leaf].defined()) buckets_->Put(leaf, local_[leaf]);
  }
  buckets_->PutRest();
  SetFlags();
  flags_reduction_.Start(flags_);
  buckets_->Wait();
  flags_reduction_.Wait();
  ReadFlags();
  for (const Found& f : found_) {
    const Tensor& mean = buckets_->Mean(f.leaf);
    if (!mean.Is(f.grad)) inner::Assign(f.grad, mean);
  }
}

void GradientSynchroniser::SetFlags() {
  std::vector<uint8_t> flags = used_;
  for (const uint8_t used : used_) flags.push_back(captured_ && used == 0 ? 1 : 0);
  Tensor mine;
  {
    const NoCaptureScope no_capture;
    mine = FromVector(std::move(flags)).To(flags_.device());
  }
  inner::Assign(flags_, mine);
}

// A captured pass adds nothing to what it does not reach.
void GradientSynchroniser::ReadFlags() {
  const NoCaptureScope no_capture;
  const Tensor here = flags_.To(Device::Cpu());
  const auto flags = here.host_view<uint8_t>();
  std::copy(flags.begin(), flags.begin() + static_cast<std::ptrdiff_t>(used_.size()),
            used_.begin());
  for (size_t leaf = 0; leaf < used_.size(); ++leaf) {
    if (used_[leaf] == 0 || flags[used_.size() + leaf] == 0) continue;
    Reset();  // on all ranks that do not run a graph
    RaiseStatus(FailedPrecondition("some ranks reach parameter ", trained_[leaf].name,
                                   " and others captured a step that does not: captured steps "
                                   "reach the same on all ranks"),
                kWho);
  }
}

void GradientSynchroniser::MakeBuckets() {
  buckets_.emplace(leaves_, OrderOfFirstRank(), options_, group_);
}

// The order in which leaves became final; those that this pass did not reach follow, the last
// defined first.
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
    if (inner::IsWithheld(leaves_[leaf])) continue;  // as the sweep
    const Tensor mean = alone() ? local_[leaf] : buckets_->Mean(leaf);
    const Tensor own =
        mean.dtype() == leaves_[leaf].dtype() ? Clone(mean) : Cast(mean, leaves_[leaf].dtype());
    const Tensor& present = leaves_[leaf].grad();
    late.push_back({leaf, present.defined() ? Add(present, own) : own});
  }
  return late;
}

void GradientSynchroniser::Cancel() noexcept {
  // All ranks know of a pass that did not begin, unless this rank alone found weights that differ.
  if (!in_pass_ && !asked_) return;
  const bool reduces = in_pass_ ? synchronised_ : no_sync_ == 0;
  if (reduces && !alone()) {
    try {
      comm_->Abort("its backward pass failed");
    } catch (...) {  // no memory for saying so: the others' timeout does
    }
  }
  Reset();
}

void GradientSynchroniser::Reset() noexcept {
  if (buckets_) buckets_->Reset();
  flags_reduction_.Drop();
  found_.clear();
  std::fill(here_.begin(), here_.end(), uint8_t{0});
  std::fill(used_.begin(), used_.end(), uint8_t{0});
  weights_.Reset();
  in_pass_ = asked_ = false;
}

void GradientSynchroniser::DropLocal() {
  for (Tensor& t : local_) t = Tensor();
}

// Runs of a graph know nothing of weights. Where the next pass may be one, all ranks find out here
// that the last one was, and had some.
void GradientSynchroniser::SetWeight(double samples) {
  if (any_captured_ && weights_.uneven()) {
    weights_.Reset();
    RaiseStatus(FailedPrecondition("the step after the last SetWeight was captured, and has not "
                                   "weighed ranks, whose numbers of samples were not the same"),
                kWho);
  }
  weights_.Set(samples);
  if (any_captured_) weights_.Take();
}

}  // namespace firn::nn::parallel::internal

// Factors are near 1, so that no gradient of a half type leaves its range, and exactly 1 where all
// ranks have as many samples.

#include "firn/nn/parallel/internal/rank_weights.h"

#include <cmath>
#include <cstddef>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn::nn::parallel::internal {
namespace {

constexpr const char* kWho = "data_parallel";

}  // namespace

RankWeights::RankWeights(const std::shared_ptr<comm::Communicator>& comm)
    : comm_(comm), samples_of_(static_cast<size_t>(comm->size()), 1) {}

void RankWeights::Set(double samples) {
  pending_.reset();  // of a pass that did not come
  samples_ = samples;
  auto started = comm_->Start({.kind = comm::CollectiveKind::kAllGather,
                               .element = comm::Element::kF64,
                               .count = 1,
                               .in = &samples_,
                               .out = samples_of_.data()});
  RaiseIfError(started.status(), kWho);
  pending_ = *std::move(started);
}

void RankWeights::Take() {
  if (pending_ == nullptr) return;
  RaiseIfError(std::exchange(pending_, nullptr)->Wait(), kWho);
  double sum = 0;
  bool uneven = false;
  for (size_t rank = 0; rank < samples_of_.size(); ++rank) {
    const double samples = samples_of_[rank];
    if (!(samples >= 0) || !std::isfinite(samples)) {
      RaiseStatus(InvalidArgument("rank ", rank, " has a weight of ", samples,
                                  " samples (want a finite number >= 0)"),
                  kWho);
    }
    sum += samples;
    uneven |= samples != samples_of_[0];
  }
  if (sum == 0) RaiseStatus(InvalidArgument("no rank has a sample: all weights are 0"), kWho);
  uneven_ = uneven;
  factor_ = uneven ? samples_ * comm_->size() / sum : 1;
}

}  // namespace firn::nn::parallel::internal

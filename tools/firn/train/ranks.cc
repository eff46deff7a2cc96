// The batch of a configuration is that of all ranks together, so that a run is the same whatever
// their number: rates, steps of schedules and statistics of batch norms do not change, and a run
// can go on with another number of ranks.
#include "tools/firn/train/ranks.h"

#include <exception>

#include "absl/strings/str_cat.h"
#include "firn/device/comm/agreement.h"
#include "firn/device/status_macros.h"
#include "firn/nn/batch_norm.h"
#include "firn/tensor/error.h"
#include "firn/tensor/rank_seed.h"
#include "firn/tensor/rng.h"

namespace firn::cli {

std::string Ranks::DeviceOf(const std::string& text) const {
  return several() && text == "cuda" ? absl::StrCat("cuda:", world_->local_rank()) : text;
}

void Ranks::Agree(const std::vector<std::string>& lines) const {
  RaiseIfError(comm::CheckAgreement(*world_, lines), "train");
}

int64_t Ranks::PartOf(int64_t batch) const {
  const int64_t ranks = world_->size();
  if (batch % ranks != 0) {
    RaiseStatus(InvalidArgument("\"batch\" is ", batch, " for ", ranks,
                                " ranks together (want a multiple of ", ranks, ", such as ",
                                (batch / ranks + 1) * ranks, ")"),
                "train");
  }
  return batch / ranks;
}

void Ranks::Share(nn::Module& net) {
  if (!several()) return;
  nn::ConvertSyncBatchNorm(net);
  parallel_.emplace(net, world_);
}

void Ranks::Seed(uint64_t seed) const {
  ManualSeed(static_cast<int64_t>(inner::SeedOfRank(seed, world_->rank())));
}

double Ranks::MeanOf(double x) const {
  if (several()) {
    RaiseIfError(world_->AllReduce(&x, 1, comm::Element::kF64, comm::Reduction::kMean), "train");
  }
  return x;
}

void Ranks::Weigh(const io::Sample& batch) {
  if (parallel_) parallel_->SetWeight(batch.input.size(0));
}

void Ranks::Run(absl::FunctionRef<void()> work) const {
  try {
    work();
  } catch (const std::exception& e) {
    world_->Abort(e.what());
    throw;
  }
}

void Ranks::Wait() const { RaiseIfError(world_->Barrier(), "train"); }

}  // namespace firn::cli

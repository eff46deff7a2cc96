#ifndef FIRN_TOOLS_FIRN_TRAIN_RANKS_H_
#define FIRN_TOOLS_FIRN_TRAIN_RANKS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "firn/device/comm/communicator.h"
#include "firn/io/data/data_loader.h"
#include "firn/io/data/sample.h"
#include "firn/nn/module.h"
#include "firn/nn/parallel/data_parallel.h"

namespace firn::cli {

// The processes that train one network together. To one alone all of it is nothing. Functions are
// called by all ranks. Thread-compatible.
class Ranks {
 public:
  explicit Ranks(std::shared_ptr<comm::Communicator> world) : world_(std::move(world)) {}

  // Prints and writes.
  bool first() const { return world_->rank() == 0; }
  bool several() const { return world_->size() > 1; }
  // What Fit and Evaluate take; null: one alone.
  comm::Communicator* communicator() const { return several() ? world_.get() : nullptr; }
  const std::shared_ptr<comm::Communicator>& world() const { return world_; }
  io::Shard shard() const { return {.rank = world_->rank(), .count = world_->size()}; }

  // Of "cuda", which says no number, the device of this rank among those of its machine.
  std::string DeviceOf(const std::string& text) const;
  // Throws where ranks have other lines, naming both sides.
  void Agree(const std::vector<std::string>& lines) const;
  // The samples of each rank in a batch of all. Throws unless they are equally many.
  int64_t PartOf(int64_t batch) const;
  // Throws where a step that is captured would have to weigh ranks: the last batch of an epoch of
  // so many samples is not shared evenly.
  void CheckFrozen(int64_t samples, int64_t batch) const;
  // Has random numbers begin anew, each rank's with other ones.
  void Seed(uint64_t seed) const;
  // The mean of what the ranks give, on all. Throws where one has failed.
  double MeanOf(double x) const;
  // From now on gradients, and the statistics of batch norms, are those of all ranks, and each rank
  // draws random numbers of its own.
  void Share(nn::Module& net, uint64_t seed);
  // Before a batch is trained with: how many samples of all the rank has.
  void Weigh(const io::Sample& batch);
  // Ends when all ranks are here; throws where one has failed.
  void Wait() const;
  // Does the work of this rank. Where that throws, the others are told, which costs them no
  // timeout.
  void Run(absl::FunctionRef<void()> work) const;

 private:
  const std::shared_ptr<comm::Communicator> world_;
  std::optional<nn::parallel::DataParallel> parallel_;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_RANKS_H_

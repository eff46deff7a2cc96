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

// The processes that train one network together. With a single process all functions do nothing.
// All ranks call each function. Thread-compatible.
class Ranks {
 public:
  explicit Ranks(std::shared_ptr<comm::Communicator> world) : world_(std::move(world)) {}

  // Whether this rank prints and writes.
  bool first() const { return world_->rank() == 0; }
  bool several() const { return world_->size() > 1; }
  // The communicator for Fit and Evaluate; null with a single process.
  comm::Communicator* communicator() const { return several() ? world_.get() : nullptr; }
  const std::shared_ptr<comm::Communicator>& world() const { return world_; }
  io::Shard shard() const { return {.rank = world_->rank(), .count = world_->size()}; }

  // For "cuda" without a number, returns the device of this rank among those of its machine.
  std::string DeviceOf(const std::string& text) const;
  // Throws if ranks have different lines, naming both.
  void Agree(const std::vector<std::string>& lines) const;
  // The samples of each rank in a batch of all. Throws unless they are equally many.
  int64_t PartOf(int64_t batch) const;
  // Starts the random numbers anew, with different ones on each rank.
  void Seed(uint64_t seed) const;
  // The mean of the ranks' numbers, on all. Throws if a rank has failed.
  double MeanOf(double x) const;
  // From now on gradients, and the statistics of batch norms, are those of all ranks, and each rank
  // draws random numbers of its own.
  void Share(nn::Module& net);
  // Before a batch is trained with: how many samples of all the rank has.
  void Weigh(const io::Sample& batch);
  // Returns when all ranks have called it; throws if one has failed.
  void Wait() const;
  // Does the work of this rank. If that throws, the others are told, so that they need not wait for
  // a timeout.
  void Run(absl::FunctionRef<void()> work) const;

 private:
  const std::shared_ptr<comm::Communicator> world_;
  std::optional<nn::parallel::DataParallel> parallel_;
};

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_TRAIN_RANKS_H_

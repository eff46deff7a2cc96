#ifndef FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_
#define FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "firn/device/comm/communicator.h"

namespace firn::nn::parallel::internal {

// How many samples each rank has in a pass, where that is not the same. Thread-compatible.
class RankWeights {
 public:
  explicit RankWeights(const std::shared_ptr<comm::Communicator>& comm);

  // This rank's number, for the next pass. All ranks call it; it does not wait.
  void Set(double samples);
  // Waits for the numbers of all. Throws InvalidArgument on all ranks where they make no weights.
  void Take();
  // After Take, by what this rank's loss is multiplied, so that the mean over ranks is that over
  // samples; empty in a pass without numbers. Whether it is not 1 on some rank.
  std::optional<double> factor() const { return factor_; }
  bool uneven() const { return uneven_; }
  // The pass is over.
  void Reset() noexcept {
    factor_ = {};
    uneven_ = false;
  }

 private:
  const std::shared_ptr<comm::Communicator> comm_;
  double samples_ = 1;
  std::vector<double> samples_of_;  // by rank
  std::unique_ptr<comm::Pending> pending_;
  std::optional<double> factor_;
  bool uneven_ = false;
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_

#ifndef FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_
#define FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_

#include <memory>
#include <optional>
#include <vector>

#include "firn/device/comm/communicator.h"

namespace firn::nn::parallel::internal {

// The ranks' numbers of samples in a pass, if these differ. Thread-compatible.
class RankWeights {
 public:
  explicit RankWeights(const std::shared_ptr<comm::Communicator>& comm);

  // This rank's number, for the next pass. All ranks call it; it does not wait.
  void Set(double samples);
  // Waits for the numbers of all ranks. Throws InvalidArgument on all ranks if they make no valid
  // weights.
  void Take();
  // After Take. The first is the factor of this rank's loss, by which the mean over ranks becomes
  // the mean over samples; empty in a pass without numbers. The second tells whether the factor
  // differs from 1 on some rank.
  std::optional<double> factor() const { return factor_; }
  bool uneven() const { return uneven_; }
  // Ends the pass.
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

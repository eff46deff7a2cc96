#ifndef FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_
#define FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_

#include <memory>
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
  // After Take, by what this rank's gradients are multiplied, so that their mean over ranks is that
  // over samples; whether that is not 1 on some rank. In a pass without numbers 1 and false.
  double factor() const { return factor_; }
  bool uneven() const { return uneven_; }
  // The pass is over.
  void Reset() noexcept {
    factor_ = 1;
    uneven_ = false;
  }

 private:
  const std::shared_ptr<comm::Communicator> comm_;
  double samples_ = 1;
  std::vector<double> samples_of_;  // by rank
  std::unique_ptr<comm::Pending> pending_;
  double factor_ = 1;
  bool uneven_ = false;
};

}  // namespace firn::nn::parallel::internal

#endif  // FIRN_NN_PARALLEL_INTERNAL_RANK_WEIGHTS_H_

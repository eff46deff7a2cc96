#ifndef FIRN_TESTS_NN_PARALLEL_ON_RANKS_H_
#define FIRN_TESTS_NN_PARALLEL_ON_RANKS_H_

// Ranks that are threads, networks for them, and a log of their messages.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "firn/device/comm/communicator.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/nn/layers.h"
#include "firn/tensor/ops.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::testing {

using Comm = std::shared_ptr<comm::Communicator>;

// Passes everything on to a rank, and notes what is started: "all_reduce of 10 f32 (mean)".
class NotingRank : public comm::Communicator {
 public:
  explicit NotingRank(std::unique_ptr<comm::Communicator> rank)
      : Communicator(rank->rank(), rank->size(), rank->local_rank()), rank_(std::move(rank)) {}
  absl::StatusOr<std::unique_ptr<comm::Communicator>> Split(int color, int key) override {
    return rank_->Split(color, key);
  }
  void Abort(std::string_view why) override { rank_->Abort(why); }

  std::vector<std::string> started;
  std::vector<const void*> memory;  // of each

 private:
  absl::StatusOr<std::unique_ptr<comm::Pending>> StartChecked(
      const comm::Collective& call) override {
    started.push_back(call.ToString());
    memory.push_back(call.in);
    return rank_->Start(call);
  }
  const std::unique_ptr<comm::Communicator> rank_;
};

// Calls `body` with each of `size` ranks, on a thread of its own.
inline void OnRanks(int size, const std::function<void(const std::shared_ptr<NotingRank>&)>& body,
                    const comm::ThreadRanksOptions& options = {.timeout = absl::Seconds(20)}) {
  OnThreads(size, options, [&](std::unique_ptr<comm::Communicator>& rank) {
    body(std::make_shared<NotingRank>(std::move(rank)));
  });
}

// Networks draw their first values from one generator: they are made before the threads are.
template <class Net>
std::vector<std::unique_ptr<Net>> Networks(int count) {
  std::vector<std::unique_ptr<Net>> networks;
  for (int i = 0; i < count; ++i) networks.push_back(std::make_unique<Net>());
  return networks;
}

// Whether all are the same to the bit.
template <class Nets>
bool HaveSameState(const Nets& nets) {
  for (const auto& net : nets) {
    for (const auto& [name, tensor] : net->state_dict()) {
      if (!tensor.Equals(nets[0]->state_dict()[name])) return false;
    }
  }
  return true;
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_NN_PARALLEL_ON_RANKS_H_

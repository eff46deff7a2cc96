#ifndef FIRN_DEVICE_COMM_THREAD_RANKS_H_
#define FIRN_DEVICE_COMM_THREAD_RANKS_H_

#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "firn/device/comm/communicator.h"

namespace firn::comm {

struct ThreadRanksOptions {
  // How long Wait waits for ranks that do not come.
  absl::Duration timeout = absl::Seconds(60);
};

// Ranks that are threads of this process: element i is rank i's. Ranks that wait for one whose
// communicator is gone get an error. The rank that comes last to a call does all of its work,
// before its Start returns. Requires: size >= 1.
std::vector<std::unique_ptr<Communicator>> ThreadRanks(int size,
                                                       const ThreadRanksOptions& options = {});

}  // namespace firn::comm

#endif  // FIRN_DEVICE_COMM_THREAD_RANKS_H_

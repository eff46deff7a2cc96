#ifndef FIRN_TESTS_DEVICE_COMM_ON_RANKS_H_
#define FIRN_TESTS_DEVICE_COMM_ON_RANKS_H_

// Ranks that are threads, each with the others as its world.

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "firn/device/comm/groups.h"
#include "firn/device/comm/thread_ranks.h"

namespace firn::testing {

// Calls `body` with each rank on a thread of its own, which is gone for the others when that ends.
// What it throws is a failure, and ends the calls of the other ranks.
inline void OnRanks(int size, const std::function<void(comm::Communicator&)>& body,
                    absl::Duration timeout = absl::Seconds(60)) {
  std::vector<std::thread> threads;
  for (auto& owned : comm::ThreadRanks(size, {.timeout = timeout})) {
    threads.emplace_back([&body, rank = std::move(owned)] {
      const comm::WorldScope world(*rank);
      try {
        body(*rank);
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << rank->rank() << ": " << e.what();
        rank->Abort(e.what());
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_DEVICE_COMM_ON_RANKS_H_

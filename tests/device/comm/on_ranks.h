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

// Calls body(std::unique_ptr<comm::Communicator>&) for each rank on a thread of its own. If body
// leaves its rank in place, the rank lives until all threads have ended.
template <class Body>
void OnThreads(int size, const comm::ThreadRanksOptions& options, const Body& body) {
  auto ranks = comm::ThreadRanks(size, options);
  std::vector<std::thread> threads;
  for (auto& rank : ranks) threads.emplace_back([&] { body(rank); });
  for (std::thread& t : threads) t.join();
}

// Calls `body` with each rank; for the others the rank is gone when `body` ends. An exception of
// `body` is a failure, and ends the calls of the other ranks.
inline void OnRanks(int size, const std::function<void(comm::Communicator&)>& body,
                    absl::Duration timeout = absl::Seconds(60)) {
  OnThreads(size, {.timeout = timeout}, [&](std::unique_ptr<comm::Communicator>& owned) {
    const auto rank = std::move(owned);
    const comm::WorldScope world(*rank);
    try {
      body(*rank);
    } catch (const std::exception& e) {
      ADD_FAILURE() << "rank " << rank->rank() << ": " << e.what();
      rank->Abort(e.what());
    }
  });
}

// The text of what `body` throws on each rank, "" where it throws nothing.
inline std::vector<std::string> ErrorsOfRanks(int size,
                                              const std::function<void(comm::Communicator&)>& body,
                                              absl::Duration timeout = absl::Seconds(20)) {
  std::vector<std::string> errors(static_cast<size_t>(size));
  OnThreads(size, {.timeout = timeout}, [&](const std::unique_ptr<comm::Communicator>& rank) {
    try {
      body(*rank);
    } catch (const std::exception& e) {
      errors[static_cast<size_t>(rank->rank())] = e.what();
    }
  });
  return errors;
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_DEVICE_COMM_ON_RANKS_H_

#ifndef FIRN_TESTS_OPTIM_ON_RANKS_H_
#define FIRN_TESTS_OPTIM_ON_RANKS_H_

// What several ranks, threads of the test, do at once.

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "firn/device/comm/thread_ranks.h"
#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"

namespace firn::optim {

// The text of each rank's error, "" where it has none.
inline std::vector<std::string> OnRanks(int size,
                                        const std::function<void(comm::Communicator&)>& f) {
  const auto ranks = comm::ThreadRanks(size, {.timeout = absl::Seconds(20)});
  std::vector<std::string> errors(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (size_t r = 0; r < errors.size(); ++r) {
    threads.emplace_back([&, r] {
      try {
        f(*ranks[r]);
      } catch (const std::exception& e) {
        errors[r] = e.what();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  return errors;
}

inline void ExpectNoErrors(const std::vector<std::string>& errors) {
  for (const std::string& e : errors) EXPECT_EQ(e, "");
}

inline void ExpectEqual(const StateDict& got, const StateDict& want, const std::string& where) {
  ASSERT_EQ(got.size(), want.size()) << where;
  auto w = want.begin();
  for (const auto& [name, value] : got) {
    EXPECT_EQ(name, w->first) << where;
    EXPECT_EQ(value.dtype(), w->second.dtype()) << where << " " << name;
    EXPECT_TRUE(value.Equals(w->second)) << where << " " << name;
    ++w;
  }
}

}  // namespace firn::optim

#endif  // FIRN_TESTS_OPTIM_ON_RANKS_H_

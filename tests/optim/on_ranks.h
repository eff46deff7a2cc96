#ifndef FIRN_TESTS_OPTIM_ON_RANKS_H_
#define FIRN_TESTS_OPTIM_ON_RANKS_H_

// Runs several ranks, which are threads of the test, at once.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/tensor/state_dict.h"
#include "firn/tensor/tensor.h"
#include "tests/device/comm/on_ranks.h"

namespace firn::optim {

using firn::testing::ErrorsOfRanks;

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

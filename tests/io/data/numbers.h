#ifndef FIRN_TESTS_IO_DATA_NUMBERS_H_
#define FIRN_TESTS_IO_DATA_NUMBERS_H_

// Samples that hold their own numbers, and the batches of a loader.

#include <vector>

#include "firn/io/data/data_loader.h"
#include "firn/tensor/from.h"
#include "gtest/gtest.h"

namespace firn::io {

// Inputs and targets are 0 to n - 1, i64.
inline DatasetPtr Numbers(int64_t n) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(i);
  return FromTensors(FromVector(values), FromVector(values));
}

// The batches of one loop.
inline std::vector<std::vector<int64_t>> Epoch(DataLoader& loader) {
  std::vector<std::vector<int64_t>> batches;
  for (auto [inputs, targets] : loader) {
    EXPECT_TRUE(inputs.Equals(targets));
    batches.push_back(inputs.ToVector<int64_t>());
  }
  return batches;
}

inline std::vector<int64_t> Flat(const std::vector<std::vector<int64_t>>& batches) {
  std::vector<int64_t> all;
  for (const auto& b : batches) all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace firn::io

#endif  // FIRN_TESTS_IO_DATA_NUMBERS_H_

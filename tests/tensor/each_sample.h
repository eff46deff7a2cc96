#ifndef FIRN_TESTS_TENSOR_EACH_SAMPLE_H_
#define FIRN_TESTS_TENSOR_EACH_SAMPLE_H_

// Helpers for tests of functions that change each sample of a batch by itself.

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "firn/tensor/ops.h"

namespace firn::testing {

// Expects that `count` of n draws with probability p is within five standard deviations.
inline void ExpectNear(int64_t count, double n, double p) {
  EXPECT_NEAR(static_cast<double>(count), n * p, 5 * std::sqrt(n * p * (1 - p)));
}

// `samples` times 0, 1, .. in `shape`.
inline Tensor Counting(int64_t samples, const Shape& shape) {
  std::vector<int64_t> sizes = {samples};
  for (int64_t size : shape.span()) sizes.push_back(size);
  const Tensor one = Reshape(
      Arange(0., static_cast<double>(shape.num_elements()), 1., {.dtype = DType::kF64}), shape);
  return Contiguous(Expand(Unsqueeze(one, 0), absl::MakeConstSpan(sizes)));
}

// The elements of each sample.
inline std::vector<std::vector<double>> Rows(const Tensor& y) {
  const std::vector<double> all = y.Detach().ToVector<double>();
  const auto size = all.size() / static_cast<size_t>(y.size(0));
  std::vector<std::vector<double>> rows;
  for (size_t at = 0; at < all.size(); at += size) {
    rows.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at),
                      all.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  return rows;
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_TENSOR_EACH_SAMPLE_H_

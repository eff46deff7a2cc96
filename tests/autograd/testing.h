#ifndef FIRN_TESTS_AUTOGRAD_TESTING_H_
#define FIRN_TESTS_AUTOGRAD_TESTING_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "firn/tensor/from.h"
#include "tests/error_of.h"

namespace firn::testing {

inline Tensor Leaf(std::vector<float> values) {
  return FromVector(std::move(values)).SetRequiresGrad();
}
using Floats = std::vector<float>;

inline int64_t LiveBytes() { return CpuAllocator().stats().live_bytes; }

inline void ExpectContains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" has no \"" << part << "\"";
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_AUTOGRAD_TESTING_H_

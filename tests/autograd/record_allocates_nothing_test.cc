// Everything that the tape keeps of a call, options included, fits into its node: recording asks no
// heap for memory once there are nodes and tensors to use again.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "firn/tensor/ops.h"
#include "tests/count_allocations.h"

namespace firn {
namespace {

struct Call {
  std::string name;
  std::function<Tensor(const Tensor&)> run;
};

#define FIRN_CALL(...)                                        \
  {                                                           \
#__VA_ARGS__, [](const Tensor& x) { return __VA_ARGS__; } \
  }

TEST(RecordAllocatesNothingTest, OptionsAreKeptInPlace) {
  const Call kCalls[] = {
      FIRN_CALL(Tanh(x)),
      FIRN_CALL(Sum(x, 0)),
      FIRN_CALL(Mean(x, {0, -1}, true)),
      FIRN_CALL(Amax(x, 1)),
      FIRN_CALL(Amin(x, {0, 2})),
      FIRN_CALL(Norm(x, 3, 1)),
      FIRN_CALL(Logsumexp(x, {0, 1})),
      FIRN_CALL(Squeeze(x, 1)),
      FIRN_CALL(Unsqueeze(x, 0)),
      FIRN_CALL(Flatten(x, 1)),
      FIRN_CALL(Permute(x, {2, 0, 1})),
      FIRN_CALL(Transpose(x, 0, 1)),
      FIRN_CALL(Flip(x, {0, 2})),
      FIRN_CALL(Expand(x, {3, -1, -1, -1})),
      FIRN_CALL(Slice(x, 0, 1)),
      FIRN_CALL(Softmax(x, -1)),
      FIRN_CALL(Cumsum(x, 0)),
  };
  const Tensor x = Rand({4, 1, 6}).SetRequiresGrad();
  for (const Call& call : kCalls) {
    const auto record = [&] { EXPECT_TRUE(call.run(x).requires_grad()); };
    record();
    EXPECT_EQ(testing::AllocationsIn(record), 0) << call.name;
  }
}

#undef FIRN_CALL

}  // namespace
}  // namespace firn

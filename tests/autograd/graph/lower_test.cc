// What lowering refuses, as Apply does.

#include "firn/autograd/graph/lower.h"

#include <gtest/gtest.h>

#include "firn/tensor/problems/norm_options.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::GraphBuilder;

// The kernel wants it contiguous: it would write into a copy, and the state would never change.
TEST(LowerTest, AStateThatIsWrittenMustLieAsTheKernelWantsIt) {
  const auto lowered = [](const Tensor& mean) {
    GraphBuilder b;
    const ValueId x = b.Input({4, 3});
    const ValueId y =
        b.Call("batch_norm_train", {x, kNoValue, kNoValue, b.State(mean), b.State(Ones({3}))},
               BatchNormAttrs{});
    return Lower(b.Build({y})).status();
  };
  EXPECT_TRUE(lowered(Zeros({3})).ok());
  const absl::Status status = lowered(Select(Zeros({3, 2}), 1, 0));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("running_mean is written in place and must be contiguous"),
            absl::string_view::npos)
      << status;
}

}  // namespace
}  // namespace firn

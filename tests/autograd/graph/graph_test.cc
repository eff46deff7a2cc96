#include "firn/autograd/graph/graph.h"

#include <gtest/gtest.h>

#include "firn/device/inner.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

// The text does not describe a state without a tensor, such as a gradient that compiling dropped.
TEST(GraphTest, TextNamesWhatComesFromOutside) {
  testing::GraphBuilder b;
  const ValueId gone = b.State(Ones({2})), kept = b.State(Ones({3})), x = b.Input({3});
  Graph graph = b.Build({b.Call("maximum", {x, kept})});
  graph.value(gone).bound = Tensor();
  EXPECT_EQ(graph.DebugString(),
            "%1 = state : f32 [3] on cpu\n"
            "%2 = input : f32 [3] on cpu\n"
            "%3 = maximum(%2, %1) : f32 [3] on cpu\n"
            "return %3\n");
}

}  // namespace
}  // namespace firn

// Frozen states no longer follow the originals.

#include "firn/autograd/graph/passes/constant_states.h"

#include <gtest/gtest.h>

#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::GraphBuilder;
using testing::RunGraph;
using testing::RunPass;

TEST(ConstantStatesTest, StatesThatNobodyWritesBecomeConstants) {
  const Tensor state = Full({4}, 3.0);
  GraphBuilder b;
  Graph graph = b.Build({b.Call("neg", {b.State(state)})});
  EXPECT_EQ(RunPass(ConstantStates, graph).changes, 1);
  Tensor(state).Fill(7);
  EXPECT_TRUE(RunGraph(graph)[0].Equals(Full({4}, -3.0)));
}

TEST(ConstantStatesTest, TensorsInOneStorageStayTogether) {
  const Tensor both = Randn({2, 4});
  const Tensor want = both.Clone();
  GraphBuilder b;
  const ValueId all = b.State(both);
  Value second = b.graph().value(all);
  second.bound = both[1];
  second.offset = 16;
  second.spec = second.bound.spec();
  b.graph().values.push_back(second);
  const auto row = static_cast<ValueId>(b.graph().values.size() - 1);
  Graph graph = b.Build({b.Call("neg", {all}), b.Call("neg", {row})});
  EXPECT_EQ(RunPass(ConstantStates, graph).changes, 1);
  Tensor(both).Fill(7);
  const TensorList out = RunGraph(graph);
  EXPECT_TRUE(out[0].Equals(Neg(want)));
  EXPECT_TRUE(out[1].Equals(Neg(want[1])));
}

TEST(ConstantStatesTest, WrittenStatesStayStates) {
  const Tensor state = Zeros({4});
  GraphBuilder b;
  const ValueId id = b.State(state);
  b.Call("accumulate", {id, b.Constant(Ones({4}))});
  Graph graph = b.Build({});
  EXPECT_EQ(RunPass(ConstantStates, graph).changes, 0);
  RunGraph(graph);
  EXPECT_TRUE(state.Equals(Ones({4})));
}

}  // namespace
}  // namespace firn

#include "firn/autograd/operation_hooks.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::Leaf;

struct Seen {
  std::vector<std::string> calls;
  OperationHooks hooks() {
    const auto note = [this](const char* which) {
      return [this, which](const OperationCall& call) {
        calls.push_back(which + std::string(call.name()));
      };
    };
    return {note("> "), note("< "), note(">> "), note("<< ")};
  }
};

// d(exp(w x)) with w of one element, so that nothing has to be summed.
Tensor Step(Tensor& w, const Tensor& x) {
  w.ZeroGrad();
  const Tensor y = Exp(w * x);
  y.Backward(x);
  return y;
}

TEST(OperationHooksTest, OrdinaryAndFrozenRunsCallTheSameHooks) {
  Tensor w = Leaf({2});
  const Tensor x = FromValues({3.f});
  Seen eager, frozen;
  {
    const OperationHookScope scope(eager.hooks());
    Step(w, x);
  }
  StaticGraph graph = Freeze([&](const Tensor& t) { return Step(w, t); }, x);
  {
    const OperationHookScope scope(frozen.hooks());
    graph(x);
  }
  const std::vector<std::string> want = {"> mul",  "< mul",  "> exp",  "< exp",
                                         ">> mul", "<< mul", ">> mul", "<< mul"};
  EXPECT_EQ(eager.calls, want);
  frozen.calls.resize(want.size());  // then gradients are copied to where they are kept
  EXPECT_EQ(frozen.calls, want);
}

TEST(OperationHooksTest, AnyMayBeEmpty) {
  int count = 0;
  const OperationHookScope scope({.after_forward = [&](const OperationCall&) { ++count; }});
  Exp(Ones({2}));
  EXPECT_EQ(count, 2);  // ones as well
}

TEST(OperationHooksTest, ABeforeHookSeesWhatIsAboutToBeOverwritten) {
  Tensor x = FromValues({1.f, 2.f});
  std::vector<float> before, after;
  const OperationHookScope scope({.before_forward =
                                      [&](const OperationCall& call) {
                                        if (call.overwrites(0))
                                          before = call.input(0).ToVector<float>();
                                      },
                                  .after_forward =
                                      [&](const OperationCall& call) {
                                        if (call.overwrites(0))
                                          after = call.input(0).ToVector<float>();
                                      }});
  x.Fill(7);
  EXPECT_EQ(before, (std::vector<float>{1, 2}));
  EXPECT_EQ(after, (std::vector<float>{7, 7}));
}

TEST(OperationHooksTest, ExceptionsPassThroughAndTheGraphStaysUsable) {
  const Tensor x = Ones({2});
  StaticGraph graph = Freeze([](const Tensor& t) { return Exp(t); }, x);
  {
    const OperationHookScope scope(
        {.before_forward = [](const OperationCall&) { throw std::runtime_error("mine"); }});
    EXPECT_THROW(Exp(x), std::runtime_error);
    EXPECT_THROW(graph(x), std::runtime_error);
  }
  EXPECT_TRUE(graph(x).Equals(Exp(x)));
}

}  // namespace
}  // namespace firn

// Two streams for one graph: which calls go aside, and that the waits alone order all calls that
// share values or memory.

#include "firn/autograd/graph/streams.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "firn/tensor/ops/create/constant.h"
#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::GraphBuilder;

std::vector<bool> Anything(const Graph& graph) {
  return std::vector<bool>(graph.instrs.size(), true);
}

// The position of the call that makes a value.
size_t MakerOf(const Graph& graph, ValueId id) { return Uses(graph).maker(id); }

TEST(StreamsTest, WhatOnlyTheEndNeedsGoesAside) {
  GraphBuilder b;
  ValueId x = b.Input({16});
  std::vector<ValueId> chain, aside;
  for (int i = 0; i < 5; ++i) {
    x = b.Call("exp", {x});
    chain.push_back(x);
    aside.push_back(b.Call("relu", {x}));
  }
  for (ValueId y : aside) x = b.Call("mul", {x, y});
  const Graph graph = b.Build({x});
  const StreamPlan plan = PlanStreams(graph, Anything(graph));
  for (ValueId y : chain) EXPECT_FALSE(plan.aside[MakerOf(graph, y)]);
  for (int i = 0; i < 5; ++i) {
    const size_t at = MakerOf(graph, aside[static_cast<size_t>(i)]);
    EXPECT_TRUE(plan.aside[at]) << i;
    EXPECT_EQ(plan.wait_for[at], MakerOf(graph, chain[static_cast<size_t>(i)])) << i;
  }
  EXPECT_FALSE(plan.aside[MakerOf(graph, x)]);
  EXPECT_EQ(plan.join, StreamPlan::kNone) << "the product has waited for everything";
}

TEST(StreamsTest, AChainHasOneStream) {
  GraphBuilder b;
  ValueId x = b.Input({16});
  for (int i = 0; i < 5; ++i) x = b.Call("exp", {x});
  const Graph graph = b.Build({x});
  EXPECT_TRUE(PlanStreams(graph, Anything(graph)).aside.empty());
}

TEST(StreamsTest, OnlyWhatMayGoesAside) {
  GraphBuilder b;
  const ValueId x = b.Call("exp", {b.Input({16})});
  const ValueId side = b.Call("relu", {x});
  ValueId y = x;
  for (int i = 0; i < 4; ++i) y = b.Call("exp", {y});
  const Graph graph = b.Build({side, y});
  std::vector<bool> may = Anything(graph);
  const StreamPlan plan = PlanStreams(graph, may);
  const size_t at = MakerOf(graph, side);
  ASSERT_FALSE(plan.aside.empty());
  EXPECT_TRUE(plan.aside[at]);
  may[at] = false;
  EXPECT_TRUE(PlanStreams(graph, may).aside.empty());
  EXPECT_TRUE(PlanStreams(graph, {}).aside.empty()) << "as on the CPU";
}

TEST(StreamsTest, TheEndWaitsForWhatNothingElseHasWaitedFor) {
  GraphBuilder b;
  ValueId x = b.Call("exp", {b.Input({16})});
  const Tensor counter = Zeros({16});
  ValueId y = x;
  for (int i = 0; i < 3; ++i) y = b.Call("exp", {y});
  b.Call("assign", {b.State(counter), x});
  const Graph graph = b.Build({y});
  const StreamPlan plan = PlanStreams(graph, Anything(graph));
  const size_t assign = graph.instrs.size() - 1;
  ASSERT_FALSE(plan.aside.empty());
  EXPECT_TRUE(plan.aside[assign]);
  EXPECT_EQ(plan.join, assign);
  EXPECT_EQ(LifespansOn(graph, plan)[static_cast<size_t>(graph.value(x).buffer)].last, assign);
}

TEST(StreamsTest, MemoryOfWhatIsLongDoneIsGivenBackOnTheWay) {
  GraphBuilder b;
  const ValueId x = b.Call("exp", {b.Input({16})});
  const ValueId first = b.Call("exp", {x});
  const ValueId side = b.Call("relu", {first});  // aside; `first` is read by nothing after it
  ValueId y = x;
  for (int i = 0; i < 20; ++i) y = b.Call("exp", {y});
  const Graph graph = b.Build({side, y});
  const StreamPlan plan = PlanStreams(graph, Anything(graph));
  const size_t at = MakerOf(graph, side);
  ASSERT_FALSE(plan.aside.empty());
  ASSERT_TRUE(plan.aside[at]);
  const size_t last = LifespansOn(graph, plan)[static_cast<size_t>(graph.value(first).buffer)].last;
  EXPECT_GT(last, at) << "in one stream it would end with its reader";
  EXPECT_LT(last, at + 5) << "and not at the end";
}

// --- All of it, on graphs of any shape
// ------------------------------------------------------------

struct Touch {
  size_t at;
  bool writes;
};

std::vector<std::vector<Touch>> TouchesByBuffer(const Graph& graph) {
  std::vector<std::vector<Touch>> touches(graph.buffers.size());
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const Instr& instr = graph.instrs[at];
    if (!Computes(graph, instr)) continue;
    for (size_t i = 0; i < instr.in.size(); ++i) {
      touches[static_cast<size_t>(graph.value(instr.in[i]).buffer)].push_back(
          {at, instr.op->writes(i)});
    }
    for (ValueId id : instr.out) {
      touches[static_cast<size_t>(graph.value(id).buffer)].push_back({at, true});
    }
  }
  return touches;
}

// before[b][a]: a is done before b begins, by the order of the streams and the waits.
std::vector<std::vector<bool>> Before(const StreamPlan& plan) {
  const size_t n = plan.aside.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  size_t last[2] = {StreamPlan::kNone, StreamPlan::kNone};
  for (size_t at = 0; at < n; ++at) {
    for (size_t from : {last[plan.aside[at] ? 1 : 0], plan.wait_for[at]}) {
      if (from == StreamPlan::kNone) continue;
      EXPECT_LT(from, at);
      before[at][from] = true;
      for (size_t i = 0; i < n; ++i) before[at][i] = before[at][i] || before[from][i];
    }
    last[plan.aside[at] ? 1 : 0] = at;
  }
  return before;
}

Graph AnyGraph(std::mt19937& random) {
  GraphBuilder b;
  const auto any = [&](size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(random);
  };
  std::vector<ValueId> values = {b.Call("exp", {b.Input({1 << (4 + any(16))})})};
  const Shape shape = b.graph().value(values[0]).spec.shape;
  std::vector<ValueId> states;
  for (int i = 0; i < 3; ++i) states.push_back(b.State(Zeros(shape)));
  for (int i = 0; i < 50; ++i) {
    const ValueId recent = values[values.size() - 1 - any(std::min<size_t>(values.size(), 4))];
    switch (any(6)) {
      case 0:
        b.Call("assign", {states[any(3)], recent});
        break;
      case 1:
        values.push_back(b.Call("mul", {recent, states[any(3)]}));
        break;
      case 2:
        values.push_back(b.Call("mul", {recent, values[any(values.size())]}));
        break;
      default:
        values.push_back(b.Call("exp", {recent}));
    }
  }
  return b.Build({values.back()});
}

void ExpectOrdered(const Graph& graph, const StreamPlan& plan) {
  const auto before = Before(plan);
  const auto touches = TouchesByBuffer(graph);
  for (const auto& of_buffer : touches) {
    for (const Touch& a : of_buffer) {
      for (const Touch& b : of_buffer) {
        if (a.at >= b.at || (!a.writes && !b.writes)) continue;
        EXPECT_TRUE(before[b.at][a.at]) << a.at << " and " << b.at << " use the same buffer";
      }
    }
  }
  const std::vector<Lifespan> spans = LifespansOn(graph, plan);
  for (size_t x = 0; x < spans.size(); ++x) {
    for (size_t y = 0; y < spans.size(); ++y) {
      if (touches[x].empty() || touches[y].empty() || spans[x].last >= spans[y].first) continue;
      for (const Touch& a : touches[x]) {
        for (const Touch& b : touches[y]) {
          EXPECT_TRUE(before[b.at][a.at]) << "buffers " << x << " and " << y << " may share memory";
        }
      }
    }
  }
  const std::vector<size_t> until = InUseUntil(plan);
  for (size_t a = 0; a < until.size(); ++a) {
    for (size_t b = until[a] + 1; b < until.size(); ++b) {
      EXPECT_TRUE(before[b][a]) << a << " is in use until " << until[a];
    }
  }
}

// The main stream ends behind everything aside.
void ExpectJoined(const StreamPlan& plan) {
  size_t waited = plan.join, last = StreamPlan::kNone;
  for (size_t at = 0; at < plan.aside.size(); ++at) {
    if (plan.aside[at]) last = at;
    if (plan.aside[at] || plan.wait_for[at] == StreamPlan::kNone) continue;
    if (plan.join == StreamPlan::kNone) waited = plan.wait_for[at];
  }
  EXPECT_EQ(waited, last);
}

TEST(StreamsTest, WaitsOrderAllThatSharesABufferOrMayShareMemory) {
  std::mt19937 random(7);
  size_t two = 0, waits = 0;
  for (int i = 0; i < 40; ++i) {
    const Graph graph = AnyGraph(random);
    const StreamPlan plan = PlanStreams(graph, Anything(graph));
    if (plan.aside.empty()) continue;
    ++two;
    for (size_t at : plan.wait_for) waits += at == StreamPlan::kNone ? 0 : 1;
    ExpectOrdered(graph, plan);
    ExpectJoined(plan);
    const StreamPlan again = PlanStreams(graph, Anything(graph));
    EXPECT_EQ(plan.aside, again.aside);
    EXPECT_EQ(plan.wait_for, again.wait_for);
    if (HasFailure()) break;
  }
  EXPECT_GT(two, 30u);
  EXPECT_GT(waits, 2 * two) << "graphs too simple to show anything";
}

}  // namespace
}  // namespace firn

#include "firn/autograd/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/operation_hooks.h"
#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;

const Profile::Row* Find(const Profile& p, const std::string& operation, Phase phase) {
  for (const Profile::Row& row : p.rows) {
    if (row.operation == operation && row.phase == phase) return &row;
  }
  return nullptr;
}

struct Model {
  std::string name = "net", part = "head";
  Tensor w = Randn({16, 4}).SetRequiresGrad();
  Tensor x = Randn({8, 16});

  Tensor Step(const Tensor& in) {
    w.ZeroGrad();
    const PathScope a(name), b(part);
    const Tensor loss = Sum(Relu(Matmul(in, w)));
    loss.Backward();
    return loss;
  }
};

// The operations and bytes of the product x w, and of w's gradient.
constexpr double kFlop = 2.0 * 8 * 16 * 4;
constexpr int64_t kBytes = 4 * (8 * 16 + 16 * 4 + 8 * 4);

void ExpectRowsOf(const Profile& p, int64_t runs) {
  const Profile::Row* forward = Find(p, "matmul", Phase::kForward);
  const Profile::Row* backward = Find(p, "matmul", Phase::kBackward);
  ASSERT_NE(forward, nullptr);
  ASSERT_NE(backward, nullptr);
  for (const Profile::Row* row : {forward, backward}) {
    EXPECT_EQ(row->path, "net.head");
    EXPECT_EQ(row->calls, runs);
    EXPECT_EQ(row->flop, kFlop * static_cast<double>(runs));
    EXPECT_EQ(row->bytes, kBytes * runs);
    EXPECT_GT(row->seconds, 0);
    EXPECT_GT(row->median_seconds, 0);
  }
  const Profile::Row* relu = Find(p, "relu", Phase::kForward);
  ASSERT_NE(relu, nullptr);
  EXPECT_FALSE(relu->flop.has_value());
  EXPECT_EQ(p.runs, runs);
  EXPECT_LE(p.operation_seconds, p.seconds);
  double share = 0, seconds = 0;
  for (size_t i = 0; i < p.rows.size(); ++i) {
    share += p.rows[i].share;
    seconds += p.rows[i].seconds;
    if (i > 0) {
      EXPECT_LE(p.rows[i].seconds, p.rows[i - 1].seconds);
    }
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_NEAR(seconds, p.operation_seconds, 1e-12);
}

// Events are in order, do not overlap and add up to the rows.
void ExpectEventsOf(const Profile& p) {
  std::vector<int64_t> calls(p.rows.size());
  double end = 0;
  for (const Profile::Event& e : p.events) {
    ++calls[e.row];
    EXPECT_GE(e.start, end);
    EXPECT_GE(e.seconds, 0);
    end = e.start + e.seconds;
  }
  for (size_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i], p.rows[i].calls);
  if (p.runs == 1) {  // otherwise there is time between the runs
    EXPECT_LE(end, p.seconds + 1e-9);
  }
}

TEST(ProfileTest, TimesOrdinaryRunsForwardAndBackward) {
  Model m;
  const Profile p = ProfileStep([&] { m.Step(m.x); }, 3);
  ExpectRowsOf(p, 3);
  ExpectEventsOf(p);
  ExpectEventsOf(ProfileStep([&] { m.Step(m.x); }));
}

TEST(ProfileTest, TimesFrozenRuns) {
  Model m;
  StaticGraph graph = Freeze([&](const Tensor& x) { return m.Step(x); }, m.x);
  const Profile p = ProfileGraph(graph, {&m.x, 1}, 4);
  ExpectRowsOf(p, 4);
  ExpectEventsOf(p);
  const Profile inside = ProfileStep([&] { graph(m.x); }, 2);
  ExpectRowsOf(inside, 2);
}

TEST(ProfileTest, ViewsMoveNothing) {
  const Tensor x = Randn({4, 6});
  const Profile p = ProfileStep([&] { x.T(); });
  ASSERT_EQ(p.rows.size(), 1u);
  EXPECT_EQ(p.rows[0].calls, 1);
  EXPECT_EQ(p.rows[0].bytes, 0);
}

// The time of a hook nearer to the operation counts as the operation's; that of a hook outside does
// not. That shows that times are those of the operation.
TEST(ProfileTest, TimesWhatHappensBetweenBeforeAndAfter) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const Tensor x = Randn({4});
  const auto pause = [&](const OperationCall&) { std::this_thread::sleep_for(kPause); };
  const Profile inside = ProfileStep([&] {
    const OperationHookScope hooks({.before_forward = pause});
    Exp(x);
    std::this_thread::sleep_for(kPause);
  });
  ASSERT_EQ(inside.rows.size(), 1u);
  EXPECT_GE(inside.rows[0].seconds, 0.020);
  EXPECT_GE(inside.seconds, 0.040);
  const OperationHookScope hooks({.before_forward = pause, .after_forward = pause});
  // The least of several: the machine may be busy.
  double least = 1;
  for (int i = 0; i < 5; ++i) {
    least = std::min(least, ProfileStep([&] { Exp(x); }).rows[0].seconds);
  }
  EXPECT_LT(least, 0.020);
}

TEST(ProfileTest, ExceptionsPassThroughAndLeaveNothingBehind) {
  EXPECT_THROW(ProfileStep([] { throw std::runtime_error("mine"); }), std::runtime_error);
  EXPECT_EQ(ThisThread().observer, nullptr);
}

TEST(ProfileTest, RefusesNoRunsAndWrongInputs) {
  Model m;
  StaticGraph graph = Freeze([&](const Tensor& x) { return m.Step(x); }, m.x);
  EXPECT_EQ(ErrorOf([&] { ProfileGraph(graph, {&m.x, 1}, 0); }), "profile: runs is 0 (want >= 1)");
  const Tensor wrong = Ones({3});
  EXPECT_EQ(ErrorOf([&] { ProfileGraph(graph, {&wrong, 1}, 1); }).substr(0, 7), "graph: ");
}

}  // namespace
}  // namespace firn

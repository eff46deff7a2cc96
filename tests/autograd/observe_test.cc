// Ordinary operations and steps of frozen graphs look alike to an observer.

#include "firn/autograd/observe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/autograd/testing.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::Leaf;

using Lines = std::vector<std::string>;

std::string Text(const OperationCall& call) {
  std::string text(call.name());
  if (!call.path().empty()) text += " at " + call.path();
  if (call.phase() == Phase::kBackward) text += " backward";
  if (!call.backward_of().empty()) text += " of " + std::string(call.backward_of());
  return text;
}

class Notes final : public OperationObserver {
 public:
  explicit Notes(Lines* lines, std::string name = "")
      : OperationObserver("notes"), lines_(lines), name_(std::move(name)) {}

 private:
  absl::Status Before(const OperationCall& call) override {
    lines_->push_back(name_ + "before " + Text(call));
    return absl::OkStatus();
  }
  absl::Status After(const OperationCall& call) override {
    lines_->push_back(name_ + "after " + Text(call));
    return absl::OkStatus();
  }
  Lines* lines_;
  std::string name_;
};

TEST(ObserveTest, SeesOperationsWithPathAndPhaseBeforeAndAfter) {
  const std::string path = "net.act";
  Tensor x = Leaf({1, 2});
  Lines lines;
  {
    const Notes notes(&lines);
    Tensor y;
    {
      const PathScope scope(path);
      y = Exp(x);
    }
    y.Backward(Ones({2}));
  }
  Exp(x);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[0], "before exp at net.act");
  EXPECT_EQ(lines[1], "after exp at net.act");
  const auto has = [&](const std::string& line) {
    return std::count(lines.begin(), lines.end(), line);
  };
  EXPECT_EQ(has("before mul at net.act backward of exp"), 1);
  EXPECT_EQ(has("after mul at net.act backward of exp"), 1);
  EXPECT_EQ(has("before exp at net.act"), 1) << "sees what ran after its scope";
}

TEST(ObserveTest, SeesTheStepsOfFrozenGraphs) {
  const std::string path = "net.act";
  Tensor w = Leaf({1, 2});
  StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        w.ZeroGrad();
        const PathScope scope(path);
        const Tensor loss = Sum(Exp(w * x));
        loss.Backward();
        return loss;
      },
      Ones({2}));
  Lines lines;
  {
    const Notes notes(&lines);
    graph(Ones({2}));
  }
  graph(Ones({2}));
  const auto has = [&](const std::string& line) {
    return std::count(lines.begin(), lines.end(), line);
  };
  EXPECT_EQ(has("before exp at net.act"), 1);
  EXPECT_EQ(has("after exp at net.act"), 1);
  EXPECT_EQ(has("before mul at net.act"), 1);
  EXPECT_EQ(has("after mul at net.act backward"), 2);
}

TEST(ObserveTest, AddingGradientsToLeavesIsBackward) {
  Tensor x = Leaf({1, 2});
  Exp(x).Backward(Ones({2}));
  const Tensor y = Exp(x), seed = Ones({2});
  Lines lines;
  const Notes notes(&lines);
  y.Backward(seed);
  const Lines want = {"before mul backward of exp", "after mul backward of exp",
                      "before accumulate backward", "after accumulate backward"};
  EXPECT_EQ(lines, want);
}

// Checks that specs and elements are there when they should be.
class Elements final : public OperationObserver {
 public:
  Elements() : OperationObserver("elements") {}
  std::vector<float> in, out;
  bool frozen = false;

 private:
  absl::Status Before(const OperationCall& call) override {
    if (call.name() == "sub") in = call.input(0).ToVector<float>();
    return absl::OkStatus();
  }
  absl::Status After(const OperationCall& call) override {
    if (call.name() != "sub") return absl::OkStatus();
    EXPECT_EQ(call.num_inputs(), 2u);
    EXPECT_EQ(call.num_outputs(), 1u);
    EXPECT_EQ(call.input_spec(2), nullptr);
    EXPECT_FALSE(call.input(2).defined());
    EXPECT_EQ(call.output_spec(1), nullptr);
    EXPECT_FALSE(call.output(1).defined());
    EXPECT_EQ(call.input_spec(0)->shape, Shape({2, 2}));
    EXPECT_EQ(call.output_spec(0)->shape, Shape({2, 2}));
    out = call.output(0).ToVector<float>();
    frozen = call.frozen();
    return absl::OkStatus();
  }
};

TEST(ObserveTest, GivesTensorsThatCanBeReadOfBothKindsOfRun) {
  const auto fn = [](const Tensor& x) { return x.T() - 1; };  // a strided argument
  const Tensor x = Reshape(FromValues({1.f, 2.f, 3.f, 4.f}), {2, 2});
  StaticGraph graph = Freeze(fn, x);
  for (const bool frozen : {false, true}) {
    Elements elements;
    if (frozen) {
      graph(x);
    } else {
      fn(x);
    }
    EXPECT_EQ(elements.in, (std::vector<float>{1, 3, 2, 4})) << frozen;
    EXPECT_EQ(elements.out, (std::vector<float>{0, 2, 1, 3})) << frozen;
    EXPECT_EQ(elements.frozen, frozen);
  }
}

TEST(ObserveTest, TheLastOneMadeIsNearestToTheOperation) {
  const Tensor x = Ones({2});
  StaticGraph graph = Freeze([](const Tensor& t) { return Exp(t); }, x);
  const Lines want = {"1 before exp", "2 before exp", "2 after exp", "1 after exp"};
  Lines eager, frozen;
  {
    const Notes one(&eager, "1 "), two(&eager, "2 ");
    Exp(x);
  }
  {
    const Notes one(&frozen, "1 "), two(&frozen, "2 ");
    graph(x);
  }
  EXPECT_EQ(eager, want);
  EXPECT_EQ(frozen, want);
}

// What a frozen graph does in place is told before it happens.
class Places final : public OperationObserver {
 public:
  Places() : OperationObserver("places") {}
  std::vector<bool> overwritten;

 private:
  absl::Status Before(const OperationCall& call) override {
    for (size_t i = 0; i < call.num_inputs(); ++i) overwritten.push_back(call.overwrites(i));
    return absl::OkStatus();
  }
  absl::Status After(const OperationCall&) override { return absl::OkStatus(); }
};

TEST(ObserveTest, KnowsWhichInputsAreOverwritten) {
  const auto fn = [](const Tensor& x) { return Exp(Neg(x)); };
  const Tensor x = Ones({2});
  StaticGraph graph = Freeze(fn, x);
  {
    Places places;
    fn(x);
    EXPECT_EQ(places.overwritten, (std::vector<bool>{false, false}));
  }
  {
    Places places;
    graph(x);
    EXPECT_EQ(places.overwritten, (std::vector<bool>{false, true}));
  }
  Tensor y = Ones({2});
  Places places;
  y.CopyFrom(x);
  EXPECT_EQ(places.overwritten, (std::vector<bool>{true, false}));
}

// Computes in its own calls.
class Busy final : public OperationObserver {
 public:
  Busy() : OperationObserver("busy") {}
  int calls = 0;

 private:
  absl::Status Before(const OperationCall&) override { return absl::OkStatus(); }
  absl::Status After(const OperationCall& call) override {
    ++calls;
    EXPECT_FALSE(Exp(call.input(0)).requires_grad());
    return absl::OkStatus();
  }
};

TEST(ObserveTest, WhatAnObserverRunsIsSeenByNoneNorRecordedNorCaptured) {
  const Tensor x = Leaf({1, 2});
  const Tensor in[] = {Ones({2})};
  Busy busy;
  Exp(x);
  EXPECT_EQ(busy.calls, 1);
  busy.calls = 0;
  const Captured captured =
      Capture([](absl::Span<const Tensor> t) { return TensorList{Exp(t[0])}; }, in);
  EXPECT_EQ(busy.calls, 1);
  EXPECT_EQ(captured.graph.instrs.size(), 1u);
  StaticGraph graph = *StaticGraph::Compile(captured.graph);
  busy.calls = 0;
  graph(in[0]);
  EXPECT_EQ(busy.calls, 1);
}

class Refuses final : public OperationObserver {
 public:
  explicit Refuses(bool before) : OperationObserver("refuses"), before_(before) {}

 private:
  absl::Status Before(const OperationCall&) override {
    return before_ ? absl::CancelledError("enough") : absl::OkStatus();
  }
  absl::Status After(const OperationCall&) override {
    return before_ ? absl::OkStatus() : absl::CancelledError("enough");
  }
  bool before_;
};

TEST(ObserveTest, ErrorsOfAnObserverStopTheOperationAndTheRun) {
  const Tensor x = Ones({2});
  StaticGraph graph = Freeze([](const Tensor& t) { return Exp(t); }, x);
  for (const bool before : {false, true}) {
    const Refuses refuses(before);
    EXPECT_EQ(ErrorOf([&] { Exp(x); }), "refuses: enough");
    EXPECT_EQ(ErrorOf([&] { graph(x); }), "graph: refuses: enough");
    TensorList out(1);
    EXPECT_EQ(graph.Run({&x, 1}, absl::MakeSpan(out)).code(), absl::StatusCode::kCancelled);
  }
  EXPECT_EQ(ErrorOf([&] { graph(x); }), "");
}

TEST(ObserveTest, AnOperationThatFailsHasNoAfter) {
  Lines lines;
  const Notes notes(&lines);
  EXPECT_THROW(Add(Ones({2}), Ones({3})), Error);
  EXPECT_EQ(lines.back(), "before add");
}

}  // namespace
}  // namespace firn

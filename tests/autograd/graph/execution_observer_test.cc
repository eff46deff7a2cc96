#include "firn/autograd/graph/execution_observer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"

namespace firn {
namespace {

class Notes final : public ExecutionObserver {
 public:
  explicit Notes(std::vector<std::string>* lines, std::string name = "")
      : lines_(lines), name_(std::move(name)) {}
  absl::Status BeforeStep(const ExecutionStep& step) override {
    lines_->push_back(name_ + "before " + std::string(step.instr.op->name));
    return before;
  }
  absl::Status AfterStep(const ExecutionStep& step) override {
    lines_->push_back(name_ + "after " + std::string(step.instr.op->name));
    if (throws) throw std::runtime_error("mine");
    return after;
  }
  absl::Status before, after;
  bool throws = false;

 private:
  std::vector<std::string>* lines_;
  std::string name_;
};

using Lines = std::vector<std::string>;

StaticGraph Made() {
  return Freeze([](const Tensor& x) { return Neg(Exp(x.T())); }, Ones({2, 3}));
}

TEST(ExecutionObserverTest, SeesStepsWithAKernelWhileItsScopeLives) {
  StaticGraph graph = Made();
  Lines lines;
  Notes notes(&lines);
  {
    const ExecutionObserverScope scope(&notes);
    graph(Ones({2, 3}));
  }
  graph(Ones({2, 3}));
  EXPECT_EQ(lines, (Lines{"before exp", "after exp", "before neg", "after neg"}));
  EXPECT_EQ(ExecutionObserverScope::Innermost(), nullptr);
}

TEST(ExecutionObserverTest, TheInnermostIsNearestToTheStep) {
  StaticGraph graph = Freeze([](const Tensor& x) { return Exp(x); }, Ones({2}));
  Lines lines;
  Notes one(&lines, "1 "), two(&lines, "2 ");
  const ExecutionObserverScope outer(&one), inner(&two);
  graph(Ones({2}));
  EXPECT_EQ(lines, (Lines{"1 before exp", "2 before exp", "2 after exp", "1 after exp"}));
}

// Operands are where the run reads and writes, before and after.
class Operands final : public ExecutionObserver {
 public:
  absl::Status BeforeStep(const ExecutionStep& step) override {
    EXPECT_EQ(step.in.size(), 2u);
    EXPECT_EQ(step.in[0].spec->shape, Shape({2}));
    read = static_cast<const float*>(step.in[0].data)[1];
    return absl::OkStatus();
  }
  absl::Status AfterStep(const ExecutionStep& step) override {
    EXPECT_EQ(step.out.size(), 1u);
    EXPECT_EQ(step.out[0].spec->dtype, DType::kF32);
    written = static_cast<const float*>(step.out[0].data)[1];
    return absl::OkStatus();
  }
  float read = 0, written = 0;
};

TEST(ExecutionObserverTest, ShowsTheMemoryOfEachRun) {
  StaticGraph graph = Freeze([](const Tensor& x) { return x * 3; }, Ones({2}));
  Operands operands;
  const ExecutionObserverScope scope(&operands);
  graph(FromValues({1.f, 5.f}));
  EXPECT_EQ(operands.read, 5);
  EXPECT_EQ(operands.written, 15);
  graph(FromValues({1.f, 7.f}));
  EXPECT_EQ(operands.read, 7);
  EXPECT_EQ(operands.written, 21);
}

TEST(ExecutionObserverTest, AnErrorEndsTheRunAndIsItsResult) {
  StaticGraph graph = Made();
  const Tensor in[] = {Ones({2, 3})};
  for (const bool before : {true, false}) {
    Lines lines;
    Notes notes(&lines);
    (before ? notes.before : notes.after) = absl::CancelledError("enough");
    const ExecutionObserverScope scope(&notes);
    TensorList out(1);
    EXPECT_EQ(graph.Run(in, absl::MakeSpan(out)), absl::CancelledError("enough"));
    EXPECT_EQ(lines.size(), before ? 1u : 2u);
  }
  EXPECT_TRUE(graph(in[0]).Equals(Neg(Exp(in[0].T()))));
}

TEST(ExecutionObserverTest, AStateThatAnEndedRunChangedCountsAsChanged) {
  Tensor w = Ones({2}).SetRequiresGrad(), state = Ones({2});
  StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        state.CopyFrom(x);
        return Exp(state);
      },
      Ones({2}));
  const Tensor loss = Sum(w * state);  // keeps state for backward
  Lines lines;
  Notes notes(&lines);
  notes.after = absl::CancelledError("enough");
  const ExecutionObserverScope scope(&notes);
  EXPECT_THROW(graph(Full({2}, 3.0)), Error);
  EXPECT_TRUE(state.Equals(Full({2}, 3.0)));
  EXPECT_THROW(loss.Backward(), Error);
}

TEST(ExecutionObserverTest, CanBePutOutOfSight) {
  StaticGraph graph = Made();
  Lines lines;
  Notes notes(&lines);
  ExecutionObserverScope scope(&notes);
  ExecutionObserverScope* const hidden = ExecutionObserverScope::Exchange(nullptr);
  EXPECT_EQ(hidden, &scope);
  graph(Ones({2, 3}));
  EXPECT_EQ(lines, Lines());
  EXPECT_EQ(ExecutionObserverScope::Exchange(hidden), nullptr);
  graph(Ones({2, 3}));
  EXPECT_EQ(lines.size(), 4u);
}

TEST(ExecutionObserverTest, ExceptionsPassThrough) {
  StaticGraph graph = Made();
  Lines lines;
  Notes notes(&lines);
  notes.throws = true;
  {
    const ExecutionObserverScope scope(&notes);
    EXPECT_THROW(graph(Ones({2, 3})), std::runtime_error);
  }
  EXPECT_TRUE(graph(Ones({2, 3})).Equals(Neg(Exp(Ones({3, 2})))));
}

}  // namespace
}  // namespace firn

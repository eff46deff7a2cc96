// An optimizer's step waits for the end of a captured run: the run takes no more memory than an
// ordinary one, and whatever the captured code does after the step, nobody sees that it waits.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/cpu_allocator.h"
#include "firn/device/testing.h"
#include "firn/nn/linear.h"
#include "firn/optim/adam.h"
#include "firn/optim/sgd.h"
#include "firn/optim/weight_average.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using Values = std::vector<float>;

struct Model {
  nn::Linear layer{{.in = 3, .out = 2}};
  nn::Linear other{{.in = 3, .out = 2}};
  optim::Adam adam{layer.parameters(), {.lr = 0.1}};
  optim::WeightAverage average{layer.named_parameters(), {.decay = 0.5}};

  Model() {
    const NoGradScope no_grad;
    for (nn::Linear* l : {&layer, &other}) {
      Tensor(l->weight()).CopyFrom(Arange(6).To(DType::kF32).Reshape({2, 3}) / 7);
      Tensor(l->bias()).Fill(0.5);
    }
    adam.AddGroup(other.parameters(), {.lr = 0.2});
  }
  Tensor Backward(const Tensor& x) {
    Tensor loss = Sum(Square(layer(x) + other(x)));
    loss.Backward();
    return loss;
  }
  Tensor Step(const Tensor& x) {
    adam.ZeroGrad();
    Tensor loss = Backward(x);
    adam.Step();
    return loss;
  }
  // A copy of everything that steps change.
  std::vector<Values> State() const {
    std::vector<Values> state;
    for (const nn::Linear* l : {&layer, &other}) {
      for (const Tensor& p : l->parameters()) state.push_back(p.ToVector<float>());
    }
    for (const auto& [name, t] : adam.state_dict()) state.push_back(t.ToVector<float>());
    for (const auto& [name, t] : average.state_dict()) state.push_back(t.ToVector<float>());
    return state;
  }
};

// What captured code does with the model after a step, or around one.
struct Program {
  const char* name;
  std::function<Tensor(Model&, const Tensor& x)> run;
};

const std::vector<Program>& Programs() {
  static const auto& all = *new std::vector<Program>{
      {"Nothing", [](Model& m, const Tensor& x) { return m.Step(x); }},
      {"ClearsLast",
       [](Model& m, const Tensor& x) {
         Tensor loss = m.Step(x);
         m.adam.ZeroGrad();
         return loss;
       }},
      {"ReadsAParameter",
       [](Model& m, const Tensor& x) {
         m.Step(x);
         return Sum(m.layer.weight() * 3).Detach();
       }},
      {"ReadsAPart",
       [](Model& m, const Tensor& x) {
         const Tensor row = m.other.weight().Detach()[1];  // from before the step
         m.Step(x);
         return row * 2;
       }},
      {"ReturnsAParameter",
       [](Model& m, const Tensor& x) {
         m.Step(x);
         return m.layer.bias().Detach();
       }},
      {"StepsTwice",
       [](Model& m, const Tensor& x) {
         m.Step(x);
         return m.Step(x * 2);
       }},
      {"StepsTwiceWithOneGradient",
       [](Model& m, const Tensor& x) {
         Tensor loss = m.Step(x);
         m.adam.Step();
         return loss;
       }},
      {"ChangesAParameter",
       [](Model& m, const Tensor& x) {
         Tensor loss = m.Step(x);
         const NoGradScope no_grad;
         Tensor(m.other.weight()).CopyFrom(m.other.weight() * 0.5);
         return loss;
       }},
      {"ChangesTheGradient",
       [](Model& m, const Tensor& x) {
         Tensor loss = m.Step(x);
         Tensor(m.layer.weight().grad()).Fill(100);
         m.adam.ZeroGrad();
         return loss;
       }},
      {"Averages",
       [](Model& m, const Tensor& x) {
         Tensor loss = m.Step(x);
         m.average.Update();
         return loss;
       }},
      {"RunsTheModelAgain",
       [](Model& m, const Tensor& x) {
         m.Step(x);
         const NoGradScope no_grad;
         return Sum(m.layer(x) + m.other(x));
       }},
  };
  return all;
}

class AfterAStepTest : public ::testing::TestWithParam<Program> {};

TEST_P(AfterAStepTest, TheCapturedRunIsTheOrdinaryOne) {
  const auto& run = GetParam().run;
  for (const int before : {0, 2}) {  // ordinary steps, so that there is state
    SCOPED_TRACE(before);
    Model frozen, ordinary;
    const Tensor x = Arange(6).To(DType::kF32).Reshape({2, 3}) - 2;
    for (int i = 0; i < before; ++i) {
      frozen.Step(x * i);
      ordinary.Step(x * i);
    }
    StaticGraph graph = Freeze([&](const Tensor& in) { return run(frozen, in); }, x);
    EXPECT_EQ(graph.TakeFirst().ToVector<float>(), run(ordinary, x).ToVector<float>());
    EXPECT_EQ(frozen.State(), ordinary.State());
    EXPECT_EQ(graph.captured().warnings, std::vector<std::string>());  // nobody else holds anything
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(graph(x * 3).ToVector<float>(), run(ordinary, x * 3).ToVector<float>());
      EXPECT_EQ(frozen.State(), ordinary.State());
    }
  }
}

TEST_P(AfterAStepTest, AnExceptionLeavesTheModelAsItWas) {
  const auto& run = GetParam().run;
  Model m;
  const Tensor x = Arange(6).To(DType::kF32).Reshape({2, 3}) - 2;
  m.Step(x);
  m.average.Update();
  const std::vector<Values> before = m.State();
  const auto failing = [&](const Tensor& in) {
    run(m, in);
    throw std::runtime_error("the user's own");
    return in;
  };
  EXPECT_THROW(Freeze(failing, x), std::runtime_error);
  EXPECT_EQ(m.State(), before);
}

// Each request for memory is refused in turn.
TEST_P(AfterAStepTest, ACaptureThatRunsOutOfMemoryLeavesTheModelAsItWas) {
  const auto& run = GetParam().run;
  Model m;
  const Tensor x = Arange(6).To(DType::kF32).Reshape({2, 3}) - 2, in[] = {x};
  m.Step(x);
  m.average.Update();
  const std::vector<Values> before = m.State();
  const auto captured = [&](absl::Span<const Tensor> given) {
    return TensorList{run(m, given[0])};
  };
  bool failed = true;
  for (int64_t nth = 1; failed && nth < 1000; ++nth) {
    {
      const ScopedAllocationFailure failure(nth);
      failed = !testing::StatusOf([&] { Capture(captured, in); }).ok();
    }
    if (failed) {
      ASSERT_EQ(m.State(), before) << nth;
    }
  }
  EXPECT_FALSE(failed);
}

INSTANTIATE_TEST_SUITE_P(, AfterAStepTest, ::testing::ValuesIn(Programs()),
                         [](const auto& test) { return std::string(test.param.name); });

// The code may look in any way, also straight into the memory, as printing and writers of files do.
TEST(CallsThatWaitTest, WhatTheCaptureDoesNotSeeSeesTheStep) {
  const Tensor x = Ones({2, 3});
  const std::vector<std::function<Values(const Tensor&)>> ways = {
      [](const Tensor& t) { return t.ToVector<float>(); },
      [](const Tensor& t) {
        const auto* const begin = reinterpret_cast<const float*>(t.impl()->data);
        return Values(begin, begin + t.num_elements());
      },
      [](const Tensor& t) {
        return Freeze([](const Tensor& in) { return in * 2; }, t).TakeFirst().ToVector<float>();
      },
  };
  for (size_t i = 0; i < ways.size(); ++i) {
    SCOPED_TRACE(i);
    Values read, read_by_graph;
    const auto step = [&](Model& m, const Tensor& in, Values* to) {
      Tensor loss = m.Step(in);
      const NoCaptureScope no_capture;
      *to = ways[i](m.layer.weight().Detach());
      return loss;
    };
    Model frozen, ordinary;
    step(ordinary, x, &read);
    Freeze([&](const Tensor& in) { return step(frozen, in, &read_by_graph); }, x);
    EXPECT_EQ(read_by_graph, read);
    EXPECT_EQ(frozen.State(), ordinary.State());
  }
}

// The step only reads the rate, so the write to the rate must not come before it.
TEST(CallsThatWaitTest, WhatTheStepReadsIsNotChangedBeforeIt) {
  const Tensor x = Ones({2, 3});
  const auto step = [](Model& m, const Tensor& in) {
    Tensor loss = m.Step(in);
    const NoCaptureScope no_capture;
    m.adam.SetLr(5);
    return loss;
  };
  Model frozen, ordinary;
  step(ordinary, x);
  Freeze([&](const Tensor& in) { return step(frozen, in); }, x);
  EXPECT_EQ(frozen.State(), ordinary.State());
}

TEST(CallsThatWaitTest, GraphsBesideTheCaptureSeeTheStep) {
  const Tensor x = Ones({2, 3});
  for (const bool made_before : {true, false}) {
    SCOPED_TRACE(made_before);
    Model frozen, ordinary;
    std::vector<double> seen;
    const auto step = [&](Model& m, const Tensor& in) {
      const auto sum = [&m](const Tensor& t) { return Sum(m.layer(t)); };
      StaticGraph before = [&] {
        const NoCaptureScope no_capture;
        return Freeze(sum, x);
      }();
      m.Step(in);
      {
        const NoCaptureScope no_capture;
        seen.push_back((made_before ? before(x) : Freeze(sum, x).TakeFirst()).Item());
      }
      return m.Step(in * 2);  // is captured as if no step had failed
    };
    step(ordinary, x);
    StaticGraph graph = Freeze([&](const Tensor& in) { return step(frozen, in); }, x);
    ASSERT_EQ(seen.size(), 2u);
    EXPECT_EQ(seen[1], seen[0]);
    EXPECT_EQ(frozen.State(), ordinary.State());
    step(ordinary, x);
    graph(x);
    EXPECT_EQ(frozen.State(), ordinary.State());
  }
}

// The tape knows that a saved parameter was overwritten, although it was not yet.
TEST(CallsThatWaitTest, ABackwardPassAfterTheStepIsRefusedAsEver) {
  const auto refusal = [](bool frozen) {
    Model m;
    const auto run = [&m](const Tensor& in) {
      const Tensor loss = Sum(Square(m.layer(Square(in) * m.layer.weight()[0])));
      m.Step(in.Detach());
      loss.Backward();
      return loss;
    };
    return testing::ErrorOf([&] {
      frozen ? Freeze(run, Ones({2, 3})).TakeFirst() : run(Ones({2, 3}));
    });
  };
  const std::string ordinary = refusal(false);
  EXPECT_NE(ordinary.find("in place"), std::string::npos) << ordinary;
  EXPECT_EQ(refusal(true), ordinary);
}

// For a layer with a million parameters an ordinary step holds parameter, gradient and two moments.
TEST(CallsThatWaitTest, ACapturedStepTakesTheMemoryOfAnOrdinaryOne) {
  constexpr int64_t kWeightBytes = 4 << 20;
  const auto peak_of = [](bool frozen) {
    nn::Linear layer({.in = 1024, .out = 1024, .bias = false});
    optim::Adam adam(layer.parameters(), {});
    const Tensor x = Ones({1, 1024});
    const auto step = [&](const Tensor& in) {
      adam.ZeroGrad();
      Tensor loss = Sum(Square(layer(in)));
      loss.Backward();
      adam.Step();
      return loss;
    };
    step(x);
    CpuAllocator().ResetPeak();
    const int64_t before = CpuAllocator().stats().live_bytes;
    const Tensor in[] = {x};
    if (frozen) {
      Capture([&](absl::Span<const Tensor> given) { return TensorList{step(given[0])}; }, in);
    } else {
      step(x);
    }
    return CpuAllocator().stats().peak_bytes - before;
  };
  // The gradient before it is kept, which a capture that fails gives back.
  EXPECT_LE(peak_of(true), peak_of(false) + kWeightBytes + kWeightBytes / 4);
}

}  // namespace
}  // namespace firn

// States with several handles: detached ones, which the run makes or finds, are the same memory to
// the graph and to the program, also where blocks of channels are laid out row-major.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/reorder.h"
#include "firn/tensor/storage.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using ::testing::Each;
using testing::ErrorOf;
using ::testing::HasSubstr;

constexpr int kBlock = 16;

// All elements are `value`, in blocks of channels.
Tensor Blocked(double value) { return Reordered(Full({2, 16, 2, 3}, value), kBlock).value(); }

// Writes into the memory of `t`, in its present layout, as an operation in place does.
void Overwrite(const Tensor& t, double value) {
  const Tensor from = Full(t.shape(), value);
  ASSERT_TRUE(CopyElements(from.spec(), from.impl()->data, t.spec(), t.impl()->data).ok());
  t.impl()->storage->BumpVersion();
}

void ExpectAll(const Tensor& t, float value) { EXPECT_THAT(t.ToVector<float>(), Each(value)); }

// What a captured function may do with a state and one input.
using Use = Tensor (*)(const Tensor& state, const Tensor& in);

constexpr Use kUses[] = {
    [](const Tensor& x, const Tensor& in) { return in + x.Detach(); },
    [](const Tensor& x, const Tensor& in) { return in + x.Detach().Detach(); },
    [](const Tensor& x, const Tensor& in) { return in + x.Detach() * 0.5 + x * 0.5; },
    [](const Tensor& x, const Tensor& in) { return in + x * 0.5 + x.Detach() * 0.5; },
    [](const Tensor& x, const Tensor& in) { return in + Identity(x.Detach()); },
    [](const Tensor& x, const Tensor& in) { return in + Identity(x).Detach(); },
    [](const Tensor& x, const Tensor& in) {
      return in + Reshape(Flatten(x.Detach(), 1), x.shape());
    },
    [](const Tensor& x, const Tensor& in) {
      return in + Reshape(Flatten(x, 1).Detach(), x.shape());
    },
};

TEST(AliasedStatesTest, WhatTheRunDetachesIsTheStateItself) {
  for (const Use& use : kUses) {
    SCOPED_TRACE(&use - kUses);
    Tensor x = Blocked(1), in = Zeros(x.shape());
    StaticGraph graph = Freeze([&](const Tensor& t) { return use(x, t); }, in);
    ExpectAll(graph.TakeFirst(), 1);
    Overwrite(x, 2);
    ExpectAll(graph(in), 2);
    for (float& element : x.mutable_host_view<float>())
      element = 3;  // lays out what is still in blocks
    ExpectAll(graph(in), 3);
  }
}

TEST(AliasedStatesTest, ARunThatWritesThroughADetachedHandleChangesTheState) {
  const Tensor x = Blocked(1), in = Full(x.shape(), 5);
  StaticGraph graph = Freeze(
      [&](const Tensor& t) {
        Tensor d = x.Detach();
        d.CopyFrom(t);
        return x * 1;
      },
      in);
  ExpectAll(graph.TakeFirst(), 5);
  ExpectAll(x, 5);
  ExpectAll(graph(Full(x.shape(), 6)), 6);
  ExpectAll(x, 6);
}

// The graph uses one of two handles, or both.
TEST(AliasedStatesTest, HandlesFromBeforeStayOneTensor) {
  for (const bool both : {false, true}) {
    SCOPED_TRACE(both);
    const Tensor x = Blocked(1), d = x.Detach(), in = Zeros(x.shape());
    StaticGraph graph =
        Freeze([&](const Tensor& t) { return both ? t + d * 0.5 + x * 0.5 : t + d; }, in);
    ExpectAll(graph.TakeFirst(), 1);
    Overwrite(x, 2);
    ExpectAll(d, 2);
    ExpectAll(graph(in), 2);
    Overwrite(d, 3);
    ExpectAll(x, 3);
    ExpectAll(graph(in), 3);
  }
}

// Reading x on the host lays it out in memory of its own, which the graph, whose state is the other
// handle, would not see.
TEST(AliasedStatesTest, AStateOfWhichOneHandleWentElsewhereIsRefused) {
  const Tensor x = Blocked(1), d = x.Detach(), in = Zeros(x.shape());
  const auto add = [&](const Tensor& t) { return t + d; };
  StaticGraph graph = Freeze(add, in);
  Captured captured =
      Capture([&](absl::Span<const Tensor> t) { return TensorList{add(t[0])}; }, {in});
  x.host_view<float>();
  EXPECT_THAT(ErrorOf([&] { graph(in); }), HasSubstr("had several handles"));
  const auto constant = StaticGraph::Compile(std::move(captured.graph), {.constant_states = true});
  EXPECT_THAT(std::string(constant.status().message()), HasSubstr("capture again"));
  EXPECT_EQ(Freeze(add, in)(in).ToVector<float>(), d.ToVector<float>());
}

// A view from before lies in the state's memory.
TEST(AliasedStatesTest, ViewsFromBeforeSeeTheState) {
  const Tensor table = Zeros({4, 3}), row = Select(table, 0, 1), in = Full({3}, 2);
  StaticGraph graph = Freeze(
      [&](const Tensor& t) {
        Tensor written = Select(table.Detach(), 0, 1);
        written.CopyFrom(t);
        return row + Sum(table, 0);
      },
      in);
  ExpectAll(graph.TakeFirst(), 4);
  ExpectAll(graph(Full({3}, 5)), 10);
  ExpectAll(row, 5);
}

// Which of several flags an error names does not depend on where the handles lie in memory.
TEST(AliasedStatesTest, HandlesAreLookedAtInTheOrderOfTheirUse) {
  const Tensor state = Ones({2}), x = Ones({2});
  std::vector<Tensor> handles;
  for (int i = 0; i < 32; ++i) handles.push_back(state.Detach().SetRequiresGrad());
  const Captured captured = Capture(
      [&](absl::Span<const Tensor> in) {
        Tensor sum = in[0];
        for (const Tensor& handle : handles) sum = sum + handle * in[0];
        Sum(sum).Backward();
        return TensorList{sum};
      },
      {&x, 1});
  ASSERT_EQ(captured.graph.leaves.size(), handles.size());
  for (size_t i = 0; i < handles.size(); ++i) {
    EXPECT_TRUE(captured.graph.leaves[i].leaf.Is(handles[i])) << i;
  }
}

// The run meets another handle of the parameter first: a network that is compared with its own
// detached weights, or a target that shares them.
TEST(AliasedStatesTest, WhetherAParameterWantsAGradientIsSeenBesideItsDetachedHandles) {
  for (const bool made_here : {true, false}) {
    SCOPED_TRACE(made_here);
    Tensor w = Full({3}, 2.0).SetRequiresGrad(), u = Full({3}, 1.0).SetRequiresGrad();
    const Tensor before = w.Detach(), in = Full({3}, 1);
    StaticGraph graph = Freeze(
        [&](const Tensor& t) {
          w.ZeroGrad();
          u.ZeroGrad();
          const Tensor target = t * (made_here ? w.Detach() : before);
          Tensor loss = Sum(target * w * u);
          loss.Backward();
          return loss;
        },
        in);
    EXPECT_EQ(graph(in).Item(), 12);
    w.SetRequiresGrad(false);
    EXPECT_THAT(ErrorOf([&] { graph(in); }), HasSubstr("requires_grad()"));
    w.SetRequiresGrad(true);
    EXPECT_EQ(graph(in).Item(), 12);
    // A graph of constant states does not check requires_grad().
    const auto forward = [&](const Tensor& t) {
      u.ZeroGrad();
      Tensor loss = Sum(t * (made_here ? w.Detach() : before) * w.Detach() * u);
      loss.Backward();
      return loss;
    };
    StaticGraph constant = Freeze({.constant_states = true}, forward, in);
    w.SetRequiresGrad(false);
    EXPECT_EQ(constant(in).Item(), 12);
  }
}

// A target network: its weights follow those that an optimizer moves.
TEST(AliasedStatesTest, ATargetFollowsDetachedParameters) {
  Tensor w = Full({4}, 1.0).SetRequiresGrad();
  const Tensor target = Zeros({4}), in = Zeros({4});
  StaticGraph graph = Freeze(
      [&](const Tensor& t) {
        const NoGradScope no_grad;
        Tensor to = target;
        to.CopyFrom(target * 0.5 + w.Detach() * 0.5);
        return t + to;
      },
      in);
  ExpectAll(graph.TakeFirst(), 0.5f);
  Overwrite(w, 3);
  ExpectAll(graph(in), 1.75f);
  ExpectAll(target, 1.75f);
}

}  // namespace
}  // namespace firn

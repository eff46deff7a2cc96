#include "firn/autograd/checkpoint.h"

#include <functional>
#include <string>

#include "firn/autograd/backward.h"
#include "firn/autograd/gradcheck.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/hooks.h"
#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/started.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/rng.h"
#include "tests/autograd/testing.h"
#include "tests/device/comm/on_ranks.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::ExpectContains;
using testing::Floats;
using testing::Leaf;
using testing::LiveBytes;

Tensor Cube(const Tensor& x) { return Mul(Mul(x, x), x); }

TEST(CheckpointTest, GivesTheGradientsOfAPlainCall) {
  Tensor x = Leaf({1, 2, 3});
  Sum(Checkpoint(Cube, x)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{3, 12, 27}));
  EXPECT_TRUE(
      GradCheck([](const Tensor& t) { return Checkpoint(Cube, t); }, FromValues({1.0, -2.0})).ok());
  EXPECT_TRUE(
      GradGradCheck([](const Tensor& t) { return Checkpoint(Cube, t); }, FromValues({1.0, -2.0}))
          .ok());
}

TEST(CheckpointTest, GivesGradientsToCapturedTensors) {
  Tensor x = Leaf({1, 2}), w = Leaf({3, 4});
  Tensor computed = Mul(w, 2);
  Tensor y = Checkpoint([&](const Tensor& t) { return Add(Mul(t, w), Mul(t, computed)); }, x);
  Sum(Add(y, computed)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{9, 12}));
  EXPECT_EQ(w.grad().ToVector<float>(), (Floats{5, 8}));  // 3x + 2
}

TEST(CheckpointTest, CountsAnInputThatDependsOnAnotherOnce) {
  Tensor x = Leaf({3});
  Tensor square = Mul(x, x);
  const auto product = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{Mul(in[0], in[1])};
  };
  int calls = 0;
  RegisterHook(square, [&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  Sum(Checkpoint(product, {x, square})[0]).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{27}));
  EXPECT_EQ(calls, 1);
}

TEST(CheckpointTest, RunsTwiceAndHoldsOnlyTheInput) {
  Tensor x = FromVector(Floats(1000, 1)).SetRequiresGrad();
  int runs = 0;
  const int64_t before = LiveBytes();
  Tensor y = Checkpoint(
      [&](const Tensor& t) {
        ++runs;
        Tensor h = t;
        for (int i = 0; i < 10; ++i) h = Mul(h, h);
        return h;
      },
      x);
  EXPECT_LT(LiveBytes() - before, 2 * 4000);  // the result, and no second array
  EXPECT_EQ(runs, 1);
  Sum(y).Backward();
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(x.grad().ToVector<float>()[0], 1024);
}

TEST(CheckpointTest, DrawsTheSameRandomNumbersAgain) {
  Tensor x = Leaf({1});
  std::vector<uint64_t> offsets;
  Tensor y = Checkpoint(
      [&](const Tensor& t) {
        offsets.push_back(DefaultGenerator().Reserve(4).offset);
        return Mul(t, 2);
      },
      x);
  DefaultGenerator().Reserve(100);
  const PhiloxState before = DefaultGenerator().position();
  Sum(y).Backward();
  ASSERT_EQ(offsets.size(), 2u);
  EXPECT_EQ(offsets[0], offsets[1]);
  EXPECT_EQ(DefaultGenerator().position(), before);
}

TEST(CheckpointTest, Nests) {
  Tensor x = Leaf({2}), w = Leaf({3});
  const auto inner = [&](const Tensor& t) { return Mul(Mul(t, t), w); };
  const auto outer = [&](const Tensor& t) { return Mul(Checkpoint(inner, t), t); };
  Sum(Checkpoint(outer, x)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{36}));
  EXPECT_EQ(w.grad().ToVector<float>(), (Floats{8}));
}

TEST(CheckpointTest, ComputesOnlyWhatGradAsksFor) {
  Tensor x = Leaf({2}), w = Leaf({3});
  int hooked = 0;
  Tensor y = Checkpoint(
      [&](const Tensor& t) {
        Tensor v = Mul(w, 2);
        RegisterHook(v, [&](const Tensor&) {
          ++hooked;
          return Tensor();
        });
        return Mul(t, v);
      },
      x);
  EXPECT_EQ(Grad(Sum(y), x).ToVector<float>(), (Floats{6}));
  EXPECT_EQ(hooked, 0);
}

TEST(CheckpointTest, PassesAnInputThrough) {
  Tensor x = Leaf({2});
  const auto twice = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{in[0], Mul(in[0], in[0])};
  };
  const std::vector<Tensor> y = Checkpoint(twice, {x});
  EXPECT_TRUE(x.is_leaf());
  Sum(Add(y[0], y[1])).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Floats{5}));
}

TEST(CheckpointTest, IsAPlainCallWhenNothingNeedsAGradient) {
  Tensor y = Checkpoint(Cube, FromValues({2.f}));
  EXPECT_FALSE(y.requires_grad());
  EXPECT_EQ(y.ToVector<float>(), (Floats{8}));
}

TEST(CheckpointTest, RefusesAnInputThatWasChanged) {
  Tensor x = Leaf({2});
  Tensor h = Mul(x, 2);
  Tensor y = Checkpoint(Cube, h);
  {
    NoGradScope no_grad;
    h.mutable_host_view<float>()[0] = 1;
  }
  ExpectContains(ErrorOf([&] { Sum(y).Backward(); }), "backward: checkpoint was computed from");
}

TEST(CheckpointTest, RefusesAFunctionThatChangesItsMind) {
  Tensor x = Leaf({2}), a = Leaf({1}), b = Leaf({1});
  bool first = true;
  Tensor y =
      Checkpoint([&](const Tensor& t) { return Mul(t, std::exchange(first, false) ? a : b); }, x);
  ExpectContains(ErrorOf([&] { Sum(y).Backward(); }), "computed something else when run again");
}

// Two ranks, of which the second answers exactly the calls that a plain run makes, and then one
// that fits no other.
void OnTwoRanks(const std::function<void()>& first, int calls) {
  testing::OnRanks(2, [&](comm::Communicator& ranks) {
    if (ranks.rank() == 0) {
      first();
    } else {
      for (int i = 0; i < calls; ++i) AllReduce(Ones({2}));
    }
    AllReduce(Ones({5}));
  });
}

TEST(CheckpointTest, CallsOtherRanksOnce) {
  const auto block = [](const Tensor& t) { return Cube(AllReduce(Cube(t))); };
  OnTwoRanks(
      [&] {
        Tensor x = Leaf({1, 2}), plain = Leaf({1, 2});
        Sum(block(plain)).Backward();
        Sum(Checkpoint(block, x)).Backward();
        EXPECT_TRUE(x.grad().Equals(plain.grad()));
      },
      4);
}

TEST(CheckpointTest, CallsOtherRanksOnceWithinAnother) {
  const auto inner = [](const Tensor& t) { return Cube(AllReduce(t)); };
  const auto outer = [&](const Tensor& t) {
    return AllReduce(Checkpoint(inner, AllReduce(Cube(t))));
  };
  OnTwoRanks(
      [&] {
        Tensor x = Leaf({1, 0.5f}), plain = Leaf({1, 0.5f});
        Sum(AllReduce(inner(AllReduce(Cube(plain))))).Backward();
        Sum(Checkpoint(outer, x)).Backward();
        EXPECT_TRUE(x.grad().Equals(plain.grad()));
      },
      12);
}

TEST(CheckpointTest, CapturedCallsOtherRanksOnce) {
  const auto block = [](const Tensor& t) { return Cube(AllReduce(Cube(t))); };
  Tensor w = Leaf({1, 2});
  StaticGraph step = Freeze(
      [&](const Tensor& x) {
        w.ZeroGrad();
        const Tensor loss = Sum(Checkpoint(block, Mul(x, w)));
        loss.Backward();
        return loss;
      },
      FromValues({1.0f, 3.0f}));
  const std::string ops = step.graph().DebugString();
  size_t calls = 0;
  for (size_t at = ops.find("= all_reduce("); at != std::string::npos;
       at = ops.find("= all_reduce(", at + 1)) {
    ++calls;
  }
  EXPECT_EQ(calls, 2u) << ops;  // the all-reduces of the sum and of its gradient
}

TEST(CheckpointTest, SaysWhichCallsItCannotRepeat) {
  Tensor x = Leaf({1, 2});
  const Tensor sum = Ones({2});
  ExpectContains(ErrorOf([&] {
                   Checkpoint(
                       [&](const Tensor& t) {
                         StartAllReduce(sum, comm::Reduction::kSum);
                         return Cube(t);
                       },
                       x);
                 }),
                 "start_collective: works in place, which a checkpointed function cannot repeat");
  int runs = 0;
  const Tensor y =
      Checkpoint([&](const Tensor& t) { return runs++ == 0 ? Cube(t) : Cube(AllReduce(t)); }, x);
  ExpectContains(ErrorOf([&] { Sum(y).Backward(); }),
                 "called all_reduce when run again, and not at that place in the first run");
  Tensor result;
  const Tensor z = Checkpoint(
      [&](const Tensor& t) {
        result = AllReduce(t);
        return Cube(result);
      },
      x);
  {
    const NoGradScope no_grad;
    result.Detach().Fill(0);
  }
  ExpectContains(ErrorOf([&] { Sum(z).Backward(); }), "changed in place");
}

}  // namespace
}  // namespace firn

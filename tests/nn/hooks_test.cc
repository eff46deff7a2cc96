#include "firn/nn/hooks.h"

#include <gtest/gtest.h>

#include "firn/nn/layer.h"
#include "firn/nn/shape_layers.h"
#include "firn/tensor/from.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"

namespace firn::nn {
namespace {

using Values = std::vector<float>;

// y = x * x * 3
struct Cubic final : Layer {
 protected:
  Tensor Forward(const Tensor& x) override { return Mul(Mul(x, x), 3); }
};

Tensor Leaf(Values values) { return FromVector(std::move(values)).SetRequiresGrad(); }

TEST(HooksTest, ForwardHooksSeeAndReplaceInputsAndOutputs) {
  Cubic layer;
  layer.RegisterForwardPreHook(
      [](Module&, absl::Span<Tensor> inputs) { inputs[0] = Mul(inputs[0], 2); });
  Values seen;
  layer.RegisterForwardHook([&](Module& m, absl::Span<const Tensor> inputs, Tensor& output) {
    EXPECT_EQ(&m, &layer);
    seen = inputs[0].ToVector<float>();
    output = Mul(output, 10);
  });
  EXPECT_EQ(layer(Leaf({1, 2})).ToVector<float>(), (Values{120, 480}));
  EXPECT_EQ(seen, (Values{2, 4}));
}

TEST(HooksTest, BackwardHooksSeeTheWholeGradients) {
  Cubic layer;
  Values grad_in, grad_out;
  layer.RegisterBackwardHook([&](Module&, const Tensor& in, const Tensor& out) {
    grad_in = in.ToVector<float>();
    grad_out = out.ToVector<float>();
    return Tensor();
  });
  Tensor x = Leaf({1, 2});
  // x is used outside the layer too, which the hook must not see.
  Sum(Mul(Mul(layer(x), 5), x)).Backward();
  EXPECT_EQ(grad_out, (Values{5, 10}));   // 5 x
  EXPECT_EQ(grad_in, (Values{30, 120}));  // 5 x * 6 x
  EXPECT_EQ(x.grad().ToVector<float>(), (Values{45, 180}));
}

TEST(HooksTest, BackwardHooksReplaceTheInputsGradient) {
  Cubic layer;
  layer.RegisterBackwardHook([](Module&, const Tensor& in, const Tensor&) { return Mul(in, 0.5); });
  Tensor x = Leaf({1, 2});
  Sum(layer(x)).Backward();
  EXPECT_EQ(x.grad().ToVector<float>(), (Values{3, 6}));
}

TEST(HooksTest, BackwardHooksRunOnceForEachCall) {
  Cubic layer;
  int calls = 0;
  layer.RegisterBackwardHook([&](Module&, const Tensor&, const Tensor&) {
    ++calls;
    return Tensor();
  });
  Tensor x = Leaf({1});
  Sum(layer(layer(x))).Backward();
  EXPECT_EQ(calls, 2);
}

TEST(HooksTest, BackwardHooksSeeLayersWhoseInputNeedsNoGradient) {
  struct Scale final : Layer {
    Tensor& scale = AddParameter("scale", FromVector<float>({2}));

   protected:
    Tensor Forward(const Tensor& x) override { return Mul(x, scale); }
  };
  Scale layer;
  int calls = 0;
  layer.RegisterBackwardHook([&](Module&, const Tensor& in, const Tensor& out) {
    ++calls;
    EXPECT_FALSE(in.defined());
    EXPECT_EQ(out.ToVector<float>(), (Values{1}));
    return Tensor();
  });
  Sum(layer(FromVector<float>({7}))).Backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(layer.scale.grad().ToVector<float>(), (Values{7}));
}

TEST(HooksTest, ALayerThatReturnsItsInputHasHooksToo) {
  Identity layer;
  Values grad_in, grad_out;
  layer.RegisterBackwardHook([&](Module&, const Tensor& in, const Tensor& out) {
    grad_in = in.ToVector<float>();
    grad_out = out.ToVector<float>();
    return Tensor();
  });
  Tensor x = Leaf({1, 2});
  Sum(Mul(layer(x), 3)).Backward();
  EXPECT_EQ(grad_out, (Values{3, 3}));
  EXPECT_EQ(grad_in, (Values{3, 3}));
}

TEST(HooksTest, HandlesRemoveTheirHookOnly) {
  Cubic layer;
  int first = 0, second = 0;
  HookHandle a =
      layer.RegisterForwardHook([&](Module&, absl::Span<const Tensor>, Tensor&) { ++first; });
  layer.RegisterForwardHook([&](Module&, absl::Span<const Tensor>, Tensor&) { ++second; });
  const Tensor x = Leaf({1});
  layer(x);
  a.Remove();
  a.Remove();
  layer(x);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST(HooksTest, AHookMayRemoveItselfAndHandlesMayOutliveTheLayer) {
  HookHandle handle;
  int calls = 0;
  {
    Cubic layer;
    handle = layer.RegisterForwardPreHook([&](Module&, absl::Span<Tensor>) {
      ++calls;
      handle.Remove();
    });
    layer(Leaf({1}));
    layer(Leaf({1}));
    handle = layer.RegisterForwardPreHook([](Module&, absl::Span<Tensor>) {});
  }
  handle.Remove();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace firn::nn

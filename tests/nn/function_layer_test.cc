// Layers made of functions: what they take, the options they pass on, and the tensors they keep.

#include "firn/nn/function_layer.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "firn/nn/activation.h"
#include "firn/nn/clone.h"
#include "firn/nn/dropout.h"
#include "firn/nn/loss.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops/create/constant.h"

namespace firn::nn {

// Functions with external linkage, as those of operations have.
Tensor Blend(const Tensor& a, const Tensor& b, const Tensor& c, double x, double y, double z);
Tensor Shifted(const Tensor& x, const struct ShiftedOptions& options);

struct BlendOptions {
  double x = 1, y = 10, z = 100;
  template <class V>
  void Visit(V& v) {
    v.Field("x", x);
    v.Field("y", y);
    v.Field("z", z);
  }
};
struct ShiftedOptions {
  Tensor by = {};
  int64_t times = 1;
  Tensor also = {};
  template <class V>
  void Visit(V& v) {
    v.Field("by", by);
    v.Field("times", times);
    v.Field("also", also);
  }
};

Tensor Blend(const Tensor& a, const Tensor& b, const Tensor& c, double x, double y, double z) {
  return a * x + b * y + c * z;
}
Tensor Shifted(const Tensor& x, const ShiftedOptions& o) {
  const Tensor y = x + o.by * o.times;
  return o.also.defined() ? y + o.also : y;
}

namespace {

using BlendLayer = LayerOfFunction<"Blend", Blend, BlendOptions>;
using ShiftedLayer = LayerOfFunction<"Shifted", Shifted>;

TEST(FunctionLayerTest, TakesAsManyTensorsAsItsFunctionAndPassesFieldsOn) {
  BlendLayer layer({.y = 20});
  EXPECT_EQ(layer.ToString(), "Blend(y=20)");
  EXPECT_EQ(layer(Tensor(1.0), Tensor(2.0), Tensor(3.0)).Item<double>(), 1 + 40 + 300);
}

TEST(FunctionLayerTest, FindsItsOptionsInTheFunction) {
  EXPECT_TRUE((std::is_same_v<HuberLoss::Options, HuberLossOptions>));
  EXPECT_TRUE((std::is_same_v<Elu::Options, inner::EluAttrs>));
  EXPECT_TRUE((std::is_same_v<Relu::Options, NoOptions>));
  EXPECT_TRUE((std::is_base_of_v<LayerOf<Tensor, Tensor>, MseLoss>));
}

TEST(FunctionLayerTest, KeepsTensorsAmongItsOptionsAsBuffers) {
  ShiftedLayer layer({.by = FromVector<float>({1, 2}), .times = 2});
  EXPECT_EQ(layer.Describe(), "by=[2], times=2");
  EXPECT_EQ(layer(Zeros({2})).ToVector<float>(), (std::vector<float>{2, 4}));
  EXPECT_EQ(layer.named_buffers().size(), 1u);  // `also` is not given
  const auto copy = Clone(layer);
  layer.LoadStateDict({{"by", FromVector<float>({3, 4})}});
  EXPECT_EQ(layer(Zeros({2})).ToVector<float>(), (std::vector<float>{6, 8}));
  EXPECT_EQ((*copy)(Zeros({2})).ToVector<float>(), (std::vector<float>{2, 4}));
  layer.To(DType::kF64);
  EXPECT_EQ(layer(Zeros({2}, DType::kF64)).dtype(), DType::kF64);
}

// No input could make these options right, so the layer is not made.
struct EvenFunction {
  static constexpr const char* kName = "Even";
  struct Options {
    int64_t n = 0;
    void Check(const char* where) const {
      if (n % 2 != 0) throw std::invalid_argument(where);
    }
  };
  static Tensor Call(const Tensor& x, const Options& o) { return x * o.n; }
};

TEST(FunctionLayerTest, ChecksOptionsThatCanBeWhenItIsMade) {
  FunctionLayer<EvenFunction> even({.n = 2});
  EXPECT_EQ(even(Tensor(3.0)).Item<double>(), 6);
  try {
    FunctionLayer<EvenFunction> odd({.n = 1});
    FAIL() << "it was made";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(), "nn::Even");
  }
}

TEST(FunctionLayerTest, TheModeReachesTheFunction) {
  Dropout drop({.p = 1});
  EXPECT_EQ(drop(Ones({2})).ToVector<float>(), (std::vector<float>{0, 0}));
  drop.Eval();
  EXPECT_EQ(drop(Ones({2})).ToVector<float>(), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace firn::nn

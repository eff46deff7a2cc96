#include "firn/nn/batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/graph.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/random/draws.h"

namespace firn::nn {
namespace {

// Lists the operations that a captured run would repeat.
class Listener final : public CaptureRecorder {
 public:
  Listener() { ThisThread().capture = this; }
  ~Listener() override { ThisThread().capture = nullptr; }
  void Record(const OpDef&, absl::Span<const TensorRef> in, AttrsRef,
              absl::Span<const Tensor> out) override {
    for (const TensorRef& t : in) {
      const bool made =
          std::any_of(made_.begin(), made_.end(), [&](const Tensor& m) { return m.Is(*t); });
      if (t.defined() && !made) outside.insert(t->impl());
    }
    made_.insert(made_.end(), out.begin(), out.end());
  }
  absl::Status BeforeWrite(const Tensor&) override { return absl::OkStatus(); }
  absl::Status OnHostRead(const Tensor&) override { return absl::OkStatus(); }
  absl::Status OnHostData(const TensorSpec&) override { return absl::OkStatus(); }
  void BeforeGetGrad(const Tensor&) override {}
  void BeforeSetGrad(const Tensor&) override {}

  std::set<const TensorImpl*> outside;  // inputs of operations that no operation made

 private:
  std::vector<Tensor> made_;
};

// A tensor of its own that lay on the host would be copied to the device at each step, which no
// CUDA graph can be made of.
TEST(BatchNormTest, ATrainingForwardReadsNothingButItsInputAndItsOwnTensors) {
  BatchNorm2d bn({.channels = 2});
  const Tensor x = Ones({1, 2, 2, 2});
  std::set<const TensorImpl*> own = {x.impl()};
  for (const NamedTensor& t : bn.named_parameters()) own.insert(t.tensor.impl());
  for (const NamedTensor& t : bn.named_buffers()) own.insert(t.tensor.impl());
  EXPECT_EQ(own.size(), 6u);
  Listener capture;
  bn(x);
  EXPECT_EQ(capture.outside, own);
}

TEST(BatchNormTest, FrozenForwardsAreCountedAsOrdinaryOnes) {
  BatchNorm2d bn({.channels = 2});
  const Tensor x = Ones({1, 2, 2, 2});
  bn(x);
  StaticGraph frozen = Freeze([&](const Tensor& in) { return bn(in); }, x);
  for (const Instr& instr : frozen.graph().instrs) EXPECT_NE(instr.op->name, "full");  // folded
  frozen(x);
  frozen(x);
  EXPECT_EQ(bn.state_dict()["num_batches_tracked"].Item<int64_t>(), 4);
}

// Both gradients compute with the digits of f32, and round only to the dtype of their tensor.
TEST(BatchNormTest, RecordedGradientsOfHalfImagesAreTheFusedOnes) {
  for (DType parameters : {DType::kF32, DType::kBF16}) {
    BatchNorm2d bn({.channels = 3, .activation = FusedActivation::kTanh});
    bn.To(parameters);
    const Tensor x = Randn({4, 3, 5, 5}).To(DType::kBF16).SetRequiresGrad();
    const Tensor seed = Randn(x.shape()).To(DType::kBF16);
    const auto gradients = [&](bool create_graph) {
      return Grad({bn(x)}, {x, bn.weight(), bn.bias()},
                  {.seeds = {seed}, .create_graph = create_graph});
    };
    const std::vector<Tensor> fused = gradients(false), recorded = gradients(true);
    for (size_t i = 0; i < fused.size(); ++i) {
      const DType dtype = i == 0 ? DType::kBF16 : parameters;
      EXPECT_EQ(fused[i].dtype(), dtype) << i;
      ASSERT_EQ(recorded[i].dtype(), dtype) << i;
      const std::vector<double> got = recorded[i].ToVector<double>();
      const std::vector<double> want = fused[i].ToVector<double>();
      const double allowed = std::ldexp(1.0, dtype == DType::kF32 ? -16 : -7);
      for (size_t j = 0; j < want.size(); ++j) {
        EXPECT_NEAR(got[j], want[j], allowed * (1 + std::abs(want[j]))) << i << ", " << j;
      }
    }
  }
}

// Against f64 with the same numbers: sums over half images are not rounded to the half type.
TEST(BatchNormTest, GradientsOfF32ParametersHaveTheDigitsOfF32) {
  const auto seed = Randn({4, 3, 5, 5}).To(DType::kBF16), x = Randn({4, 3, 5, 5}).To(DType::kBF16);
  const auto weight = Rand({3}), bias = Randn({3});
  const auto gradients = [&](DType images, DType numbers, bool training) {
    const Tensor w = weight.To(numbers).Detach().SetRequiresGrad();
    const Tensor b = bias.To(numbers).Detach().SetRequiresGrad();
    const Tensor none, mean = Zeros({3}).To(numbers), var = Ones({3}).To(numbers);
    const Tensor y = training ? firn::BatchNorm(x.To(images), none, none, w, b, {.training = true})
                              : firn::BatchNorm(x.To(images), mean, var, w, b);
    return Grad({y}, {w, b}, {.seeds = {seed.To(images)}});
  };
  for (bool training : {true, false}) {
    const auto got = gradients(DType::kBF16, DType::kF32, training);
    const auto want = gradients(DType::kF64, DType::kF64, training);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].dtype(), DType::kF32);
      const std::vector<double> g = got[i].ToVector<double>(), w = want[i].ToVector<double>();
      for (size_t c = 0; c < w.size(); ++c) EXPECT_NEAR(g[c], w[c], 1e-4) << i << ", " << training;
    }
  }
}

// A relu of its own lets NaN through, and so does the one inside.
TEST(BatchNormTest, TheActivationHidesNoNan) {
  for (FusedActivation activation : {FusedActivation::kRelu, FusedActivation::kTanh}) {
    BatchNorm2d bn({.channels = 1, .activation = activation});
    const Tensor x = Full({2, 1, 2, 2}, std::numeric_limits<double>::quiet_NaN());
    for (float y : bn(x).ToVector<float>()) EXPECT_TRUE(std::isnan(y));
  }
}

}  // namespace
}  // namespace firn::nn

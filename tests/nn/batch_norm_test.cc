#include "nn/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/dispatch.h"
#include "tensor/op.h"
#include "tensor/ops/full.h"

namespace firn::nn {
namespace {

// Lists what a captured run would repeat.
class Listener final : public CaptureRecorder {
 public:
  Listener() { ThisThread().capture = this; }
  ~Listener() override { ThisThread().capture = nullptr; }
  void Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef,
              absl::Span<const Tensor>) override {
    if (in.empty()) makers.emplace_back(op.name);
    ++operations;
  }
  absl::Status BeforeWrite(const Tensor&) override { return absl::OkStatus(); }
  absl::Status OnHostRead(const Tensor&) override { return absl::OkStatus(); }
  absl::Status OnHostData(const TensorSpec&) override { return absl::OkStatus(); }
  void BeforeSetGrad(const Tensor&) override {}

  std::vector<std::string> makers;
  int operations = 0;
};

// The process's first forward in training mode, which makes what all share.
TEST(BatchNormTest, ItsFirstForwardMayBeCaptured) {
  BatchNorm2d bn({.channels = 2});
  const Tensor x = Ones({1, 2, 2, 2});
  Listener capture;
  bn(x);
  EXPECT_GE(capture.operations, 2);
  EXPECT_EQ(capture.makers, std::vector<std::string>{});
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

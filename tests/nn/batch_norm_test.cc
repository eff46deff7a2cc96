#include "nn/batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "autograd/graph/graph.h"
#include "autograd/graph/static_graph.h"
#include "tensor/dispatch.h"
#include "tensor/op.h"
#include "tensor/ops/create/constant.h"

namespace firn::nn {
namespace {

// Lists what a captured run would repeat.
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

  std::set<const TensorImpl*> outside;  // what operations took that none of them made

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

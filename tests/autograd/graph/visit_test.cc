#include "firn/autograd/graph/visit.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/capture.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace {

Captured CaptureOf(CaptureFn fn, const Tensor& x) { return Capture(fn, {&x, 1}); }

TEST(VisitTest, ShowsNameModulePhaseAttributesAndSpecs) {
  const std::string outer = "net", inner = "head";
  Tensor w = Randn({3, 2}).SetRequiresGrad();
  const Captured captured = CaptureOf(
      [&](absl::Span<const Tensor> in) {
        w.ZeroGrad();
        const PathScope a(outer), b(inner);
        const Tensor y = Sum(Matmul(in[0], w), 1);
        y.Backward(Ones({4}));
        return TensorList{y};
      },
      Randn({4, 3}));
  std::vector<std::string> names;
  size_t products = 0;
  VisitOperations(captured.graph, [&](const OpView& operation) {
    EXPECT_EQ(operation.index, names.size());
    EXPECT_EQ(operation.instr, &captured.graph.instrs[operation.index]);
    names.emplace_back(operation.name);
    if (operation.name != "matmul") return;
    EXPECT_EQ(operation.module_path, "net.head");
    ASSERT_EQ(operation.inputs.size(), 2u);
    ASSERT_EQ(operation.outputs.size(), 1u);
    if (products++ == 0) {
      EXPECT_EQ(operation.phase, Phase::kForward);
      EXPECT_EQ(operation.attributes, "{transpose_a=false, transpose_b=false}");
      EXPECT_EQ(operation.inputs[0].spec->shape, Shape({4, 3}));
      EXPECT_EQ(operation.inputs[1].spec->shape, Shape({3, 2}));
      EXPECT_EQ(operation.outputs[0].spec->shape, Shape({4, 2}));
      EXPECT_EQ(operation.inputs[0].id, captured.graph.inputs[0]);
    } else {
      EXPECT_EQ(operation.phase, Phase::kBackward);
      EXPECT_EQ(operation.outputs[0].spec->shape, Shape({3, 2}));
    }
  });
  EXPECT_EQ(products, 2u);
  EXPECT_EQ(names.size(), captured.graph.instrs.size());
}

TEST(VisitTest, AbsentArgumentsHaveNoSpec) {
  const Captured captured = CaptureOf(
      [](absl::Span<const Tensor> in) { return TensorList{Linear(in[0], in[0], Tensor())}; },
      Ones({2, 2}));
  size_t visited = 0;
  VisitOperations(captured.graph, [&](const OpView& operation) {
    ++visited;
    ASSERT_EQ(operation.inputs.size(), 3u);
    EXPECT_NE(operation.inputs[1].spec, nullptr);
    EXPECT_EQ(operation.inputs[2].id, kNoValue);
    EXPECT_EQ(operation.inputs[2].spec, nullptr);
    EXPECT_EQ(operation.module_path, "");
    EXPECT_EQ(operation.attributes, "");
  });
  EXPECT_EQ(visited, 1u);
}

TEST(VisitTest, DebugStringPrintsWhatVisitShows) {
  const std::string name = "act";
  const Tensor two = Full({2}, 2.0);
  const Captured captured = CaptureOf(
      [&](absl::Span<const Tensor> in) {
        const PathScope scope(name);
        return TensorList{Sum(Exp(in[0]) * two, 0)};
      },
      Ones({2}));
  EXPECT_EQ(captured.graph.DebugString(),
            "%0 = input : f32 [2] on cpu\n"
            "%2 = state : f32 [2] on cpu\n"
            "%1 = exp(%0) : f32 [2] on cpu  # act\n"
            "%3 = mul(%1, %2) : f32 [2] on cpu  # act\n"
            "%4 = sum(%3) {dims=[0], keepdim=false} : f32 [] on cpu  # act\n"
            "return %4\n");
}

}  // namespace
}  // namespace firn

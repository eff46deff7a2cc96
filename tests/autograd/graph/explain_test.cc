// What people read of a compiled graph.

#include "firn/autograd/graph/explain.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/conv.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/on_cuda.h"

namespace firn {
namespace {

TEST(ExplainTest, SaysWhatPassesDidAndWhatARunNeeds) {
  const NoGradScope no_grad;
  nn::Conv2d conv({.in = 2, .out = 4, .kernel = 1});
  const Tensor total = Zeros({1, 4, 3, 3}), offset = Full(Shape({1, 1, 1, 1}), 2.0);
  Tensor kept;
  StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        const Tensor unused = Exp(x);
        const Tensor y = conv(x) * 3 + offset;
        Accumulate(total, y);
        kept = Neg(y);
        return y;
      },
      Ones({1, 2, 3, 3}));
  const std::string text = graph.Explain();
  for (const char* part :
       {"operations: 6 captured, 5 run\n", "branches and loops: as in the captured run",
        "dead_code: 1\n  exp\n", "memory: ", " are needed, by ", "  144 made by conv2d at conv2d\n",
        "cuda graph: no, it does not run on a CUDA device\n", "inputs: 1, 72 bytes\n",
        "f32 [1, 2, 3, 3] on cpu: conv2d", "states: 5, ",
        "f32 [1, 4, 3, 3] on cpu, written: accumulate",
        "f32 [1, 4, 3, 3] on cpu, written: made by neg", "constants: 1, 4 bytes\n",
        "f32 [] on cpu: mul", "warning: 1 tensors made in the captured run are held outside"}) {
    EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in\n" << text;
  }
}

TEST(ExplainTest, SaysWhyRunsDoNotBecomeACudaGraph) {
  const testing::CudaOrFake device;
  const Device cuda = Device::Cuda(0), cpu = Device::Cpu();
  const auto reason = [](const StaticGraph& graph) {
    const std::string text = graph.Explain(), title = "cuda graph: ";
    const size_t at = text.find(title) + title.size();
    return text.substr(at, text.find('\n', at) - at);
  };
  const auto there = [&](const Tensor& x) { return x.To(cuda); };
  EXPECT_EQ(reason(Freeze(there, Ones({2}))), "no, the device waits for the host in to_device");
  const auto back = [&](const Tensor& x) { return x.To(cuda).To(cpu); };
  EXPECT_EQ(reason(Freeze(back, Ones({2}))), "no, not all of it runs on cuda:0: to_device on cpu");
  const auto identity = [](const Tensor& x) { return x; };
  EXPECT_EQ(reason(Freeze(identity, Ones({2}))), "no, there is nothing to run");
}

TEST(ExplainTest, ListsOnlySomeOfManyStatesOfOneOperation) {
  const NoGradScope no_grad;
  std::vector<Tensor> parts(10);
  for (Tensor& part : parts) part = Ones({2});
  StaticGraph graph = Freeze(
      [&](const Tensor& x) {
        return TensorList{x, Concat(parts)};
      },
      Ones({2}));
  const std::string text = graph.Explain();
  EXPECT_NE(text.find("states: 10, 80 bytes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  and 4 more: concat\n"), std::string::npos) << text;
}

TEST(ExplainTest, CountsTheReordersThatLoweringPutIn) {
  Graph before, lowered;
  const TensorSpec plain = TensorSpec::Contiguous(DType::kF32, Shape({1, 8, 2, 2}), {});
  const TensorSpec blocked = TensorSpec::Blocked(DType::kF32, Shape({1, 8, 2, 2}), {}, 8);
  for (Graph* graph : {&before, &lowered}) {
    for (int i = 0; i < 3; ++i) {
      graph->buffers.push_back({Buffer::Kind::kTemp, 128, {}});
      graph->values.push_back({i, 0, i == 0 ? plain : blocked, {}});
    }
    Instr instr;
    instr.op = &Op("reorder");
    instr.attrs = Attrs(ReorderAttrs{8});
    instr.in = {0};
    instr.out = {1};
    graph->instrs.push_back(instr);
    instr.out = {2};
    if (graph == &lowered) graph->instrs.push_back(instr);
  }
  const PassReport report = ReportReorders(before, lowered);
  EXPECT_EQ(report.pass, "reorders");
  ASSERT_EQ(report.changes, 1);
  EXPECT_EQ(report.what[0], plain.ToString() + " to " + blocked.ToString() + ": reorder");
}

}  // namespace
}  // namespace firn

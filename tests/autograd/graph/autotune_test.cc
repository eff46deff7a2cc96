// Which kernels a graph gets when it may try what is fastest, by an operation of two kernels.
#include <gtest/gtest.h>

#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/tuning.h"

namespace firn {
namespace {

// Writes `kValue` everywhere.
template <int kValue>
absl::Status Fill(KernelContext& k) {
  for (int64_t i = 0; i < k.out_spec().num_elements(); ++i) k.out<float>()[i] = kValue;
  return absl::OkStatus();
}

absl::Status WantsTuning(const KernelQuery&) {
  return TuningScope::Wanted() ? absl::OkStatus() : absl::UnimplementedError("not now");
}

// 2 from the kernel that is tuned, 1 from the other.
const OpDef& WhichKernel() {
  static const auto* const op =
      new OpDef{.name = "which_kernel",
                .doc = "",
                .inputs = {{.name = "x"}},
                .outputs = {{.name = "y"}},
                .infer =
                    [](InferContext& c) {
                      c.set_out_like(0, 0);
                      return absl::OkStatus();
                    },
                .kernels = {{.name = "timed", .supports = WantsTuning, .run = Fill<2>},
                            {.name = "plain", .run = Fill<1>}}};
  return *op;
}

Graph Captured(const Tensor& x) {
  return Capture(
             [](absl::Span<const Tensor> in) { return TensorList{Apply1(WhichKernel(), {in[0]})}; },
             {&x, 1})
      .graph;
}

TEST(AutotuneTest, OrdinaryCallsGetNoTunedKernel) {
  EXPECT_EQ(Apply1(WhichKernel(), {Zeros({2})}).ToVector<float>(), (std::vector<float>{1, 1}));
}

TEST(AutotuneTest, FrozenGraphsGetTunedKernels) {
  const Tensor x = Zeros({2});
  StaticGraph graph = Freeze([](const Tensor& t) { return Apply1(WhichKernel(), {t}); }, x);
  EXPECT_EQ(graph(x).ToVector<float>(), (std::vector<float>{2, 2}));
  EXPECT_FALSE(TuningScope::Wanted()) << "the scope ends with compiling";
}

TEST(AutotuneTest, GraphsGetNoneWhenAskedNotTo) {
  const Tensor x = Zeros({2});
  const TuningScope around;  // the option counts, not where compiling happens
  absl::StatusOr<StaticGraph> graph = StaticGraph::Compile(Captured(x), {.autotune = false});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ((*graph)(x).ToVector<float>(), (std::vector<float>{1, 1}));
}

TEST(AutotuneTest, ChoosingAgainForAnotherNumberOfThreadsTunesAgain) {
  const Tensor x = Zeros({2});
  StaticGraph graph = Freeze([](const Tensor& t) { return Apply1(WhichKernel(), {t}); }, x);
  const int threads = NumThreads();
  SetNumThreads(threads + 1);
  EXPECT_EQ(graph(x).ToVector<float>(), (std::vector<float>{2, 2}));
  SetNumThreads(threads);
}

}  // namespace
}  // namespace firn

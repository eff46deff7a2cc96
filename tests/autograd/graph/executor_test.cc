// A compiled graph keeps the kernels, and what kernels ask of the process, that it was compiled
// with.

#include "firn/autograd/graph/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/lower.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/parallel.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/precision.h"
#include "tests/autograd/graph/passes/graph_builder.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using testing::ErrorOf;
using testing::GraphBuilder;
using ::testing::HasSubstr;

// Restores what it changes, whatever happens in between.
class Elsewhere {
 public:
  Elsewhere() {
    SetWinogradAllowed(false);
    SetNumThreads(threads_ + 1);
  }
  ~Elsewhere() {
    SetWinogradAllowed(true);
    SetNumThreads(threads_);
  }

 private:
  const int threads_ = NumThreads();
};

TEST(ExecutorTest, AnotherNumberOfThreadsChoosesNoOtherKernels) {
  const Tensor x = Randn({4, 64, 16, 16}), weight = Randn({64, 64, 3, 3});
  const auto convolve = [&](const Tensor& in) { return Conv2d(in, weight, {}, {.padding = 1}); };
  StaticGraph graph = Freeze(convolve, x);
  const std::vector<float> want = graph(x).ToVector<float>();
  const Elsewhere elsewhere;
  EXPECT_NE(convolve(x).ToVector<float>(), want);  // the direct method rounds otherwise
  EXPECT_EQ(graph(x).ToVector<float>(), want);
}

// y: whether the kernel finds Winograd's method allowed.
FIRN_REGISTER_OP(executor_test_asks) {
  return {.name = "executor_test_asks",
          .doc = "1 where Winograd's method is allowed, else 0.",
          .inputs = {{.name = "x", .dtypes = SetOf(DType::kF32)}},
          .outputs = {{.name = "y"}},
          .infer = InferLikeInput,
          .kernels = {{.name = "loop", .run = [](KernelContext& k) {
                         k.out<float>()[0] = WinogradAllowed() ? 1 : 0;
                         return absl::OkStatus();
                       }}}};
}

TEST(ExecutorTest, KernelsSeeTheSettingsOfTheCompilation) {
  const Tensor x = Zeros({1});
  const auto asks = [](const Tensor& in) { return Apply1(Op("executor_test_asks"), {in}); };
  StaticGraph graph = Freeze(asks, x);
  const Elsewhere elsewhere;
  EXPECT_EQ(asks(x).Item(), 0);
  EXPECT_EQ(graph(x).Item(), 1);
}

int asked = 0;

// y: how often the kernel had been asked when it answered for this call, and 8 bytes of workspace.
FIRN_REGISTER_OP(executor_test_prepares) {
  const auto prepare = [](const KernelQuery& q, Prepared& answer) -> absl::Status {
    if (q.in(0).shape.num_elements() != 1) return Unimplemented("wants one element");
    answer.workspace = 8;
    answer.state = std::make_shared<const int>(++asked);
    return absl::OkStatus();
  };
  const auto run = [](KernelContext& k) {
    *k.workspace<double>() = k.state<int>();
    k.out<float>()[0] = static_cast<float>(*k.workspace<double>());
    return absl::OkStatus();
  };
  return {.doc = "How often its kernel was asked.",
          .inputs = {{.name = "x", .dtypes = SetOf(DType::kF32)}},
          .outputs = {{.name = "y"}},
          .infer = InferLikeInput,
          .kernels = {{.name = "asked", .run = run, .prepare = prepare}}};
}

Tensor Prepares(const Tensor& x) { return Apply1(Op("executor_test_prepares"), {x}); }

TEST(ExecutorTest, AKernelIsAskedOnceForACallAndNotInRuns) {
  const Tensor x = Zeros({1});
  asked = 0;
  EXPECT_EQ(Prepares(x).Item(), 1);
  EXPECT_EQ(Prepares(x).Item(), 2);
  StaticGraph graph = Freeze(Prepares, x);  // runs it, lowers it and binds it
  const int after = asked;
  EXPECT_LE(after, 5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(graph(x).Item(), after);
  EXPECT_EQ(asked, after);
}

TEST(ExecutorTest, AKernelThatRefusesSaysWhy) {
  EXPECT_THAT(
      ErrorOf([] { Prepares(Zeros({2})); }),
      HasSubstr("executor_test_prepares: no kernel for cpu takes this call (asked: wants one "
                "element)"));
}

bool blocked_allowed = true;

// Does not write y. It has a kernel for blocks of 8 channels, and one for row-major layout.
FIRN_REGISTER_OP(executor_test_layouts) {
  const auto run = [](KernelContext&) { return absl::OkStatus(); };
  return {.name = "executor_test_layouts",
          .doc = "Nothing, in two layouts.",
          .inputs = {{.name = "x"}},
          .outputs = {{.name = "y"}},
          .infer = InferLikeInput,
          .kernels = {{.name = "blocked",
                       .supports =
                           [](const KernelQuery&) {
                             return blocked_allowed ? absl::OkStatus()
                                                    : absl::UnimplementedError("is switched off");
                           },
                       .layouts = [](const KernelQuery&,
                                     LayoutRequest& want) { want.in[0] = want.out[0] = 8; },
                       .run = run},
                      {.name = "loop", .run = run}}};
}

Graph LoweredToBlocks() {
  GraphBuilder b;
  return *Lower(b.Build({b.Call("executor_test_layouts", {b.Input({1, 8, 2, 2})})}));
}

TEST(ExecutorTest, TheKernelThatLoweringChoseStays) {
  const Graph lowered = LoweredToBlocks();
  ASSERT_EQ(lowered.instrs.size(), 2u);  // after a reorder
  EXPECT_EQ(lowered.instrs[1].kernel->name, "blocked");
  blocked_allowed = false;
  const absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Make(lowered);
  blocked_allowed = true;
  ASSERT_TRUE(executor.ok()) << executor.status();
  EXPECT_EQ((*executor)->graph().instrs[1].kernel->name, "blocked");
}

TEST(ExecutorTest, AKernelThatTheLayoutsAreNotForIsAnError) {
  Graph lowered = LoweredToBlocks();
  lowered.instrs[1].kernel = &lowered.instrs[1].op->kernels.back();
  const absl::Status status = Executor::Make(lowered).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("executor_test_layouts: kernel loop takes argument 0 with channels in "
                        "blocks of 0 (0: row-major), it is "));
}

TEST(ExecutorTest, AGraphThatIsNotLoweredIsAnError) {
  Graph lowered = LoweredToBlocks();
  lowered.instrs[1].kernel = nullptr;
  const absl::Status status = Executor::Make(lowered).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("executor_test_layouts has no kernel"));
}

}  // namespace
}  // namespace firn

// Attention by cuDNN: which calls it gets, and whether its graphs compute attention, on the
// stand-in for cuDNN's graph API; and whether cuDNN itself takes them, which can plan for a device
// from its description.
#include "firn/tensor/kernels/cuda/dnn_attention.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "firn/autograd/graph/static_graph.h"
#include "firn/tensor/internal/kernel_choice.h"
#include "tests/device/cudnn_planner.h"
#include "tests/device/fake_libraries.h"
#include "tests/on_cuda.h"
#include "tests/tensor/kernels/cuda/attention_calls.h"

namespace firn {
namespace {

using Sizes = testing::AttentionSizes;
using Call = testing::AttentionCall;

constexpr DType kHalves[] = {DType::kF16, DType::kBF16};

class DnnAttentionTest : public testing::SharedCudaTest {
 protected:
  void SetUp() override {
    SharedCudaTest::SetUp();
    if (!IsSkipped()) libraries_.emplace(fake_);
  }
  // The chosen kernels for tensors with these sizes and strides.
  std::string KernelOf(const Call& c) const { return ChosenFor(c, false); }
  std::string GradKernelOf(const Call& c) const { return ChosenFor(c, true); }

  std::optional<FakeLibraries> libraries_;

 private:
  std::string ChosenFor(const Call& c, bool grad) const {
    const Tensor q = c.view(0, c.q.To(device_)), k = c.view(1, c.k.To(device_));
    const Tensor v = c.view(2, c.v.To(device_)), mask = c.mask;
    const auto dense = [&](std::initializer_list<int64_t> sizes, DType dtype) {
      return TensorSpec::Contiguous(dtype, Shape(sizes), device_);
    };
    const TensorSpec y = dense({q.size(0), q.size(2), q.size(1), v.size(3)}, q.dtype());
    const TensorSpec logs = dense({q.size(0), q.size(1), q.size(2)}, DType::kF32);
    const TensorSpec of_mask = mask.defined() ? mask.spec() : TensorSpec();
    const TensorSpec position = dense({2}, DType::kI64);
    const Attrs attrs{c.attrs};
    const TensorSpec* const in[] = {&q.spec(),
                                    &k.spec(),
                                    &v.spec(),
                                    mask.defined() ? &of_mask : nullptr,
                                    c.attrs.dropout > 0 ? &position : nullptr,
                                    &y,
                                    &y,
                                    &logs};
    const auto turned = [&](const Tensor& t) {
      return dense({t.size(0), t.size(2), t.size(1), t.size(3)}, t.dtype());
    };
    const TensorSpec of_result[] = {y, logs}, of_grad[] = {turned(q), turned(k), turned(v)};
    Prepared answer;
    const absl::Status s =
        grad ? internal::Prepare(Op("scaled_dot_product_attention_grad"),
                                 KernelQuery(in, of_grad, attrs.ref()), device_, &answer)
             : internal::Prepare(Op("scaled_dot_product_attention"),
                                 KernelQuery({in, 5}, of_result, attrs.ref()), device_, &answer);
    return s.ok() ? std::string(answer.kernel->name) : std::string(s.message());
  }
};

TEST_F(DnnAttentionTest, GivesWhatTheCpuGives) {
  for (const DType dtype : kHalves) {
    for (const bool causal : {false, true}) {
      for (const Sizes& s : {Sizes{1, 3, 3, 37, 21, 16, 24}, Sizes{2, 1, 1, 20, 50, 128, 8}}) {
        SCOPED_TRACE(::testing::Message() << dtype << " " << causal << " " << s.queries);
        const Call c = Call::Make(s, dtype, {.causal = causal});
        EXPECT_EQ(KernelOf(c), "cudnn");
        EXPECT_EQ(GradKernelOf(c), "cudnn");
        testing::ExpectAttentionAsOnTheCpu(c, device_);
      }
    }
  }
}

TEST_F(DnnAttentionTest, HeadsShareKeys) {
  for (const DType dtype : kHalves) {
    const Call c = Call::Make({2, 6, 2, 19, 27, 16, 8}, dtype, {.causal = dtype == DType::kBF16});
    EXPECT_EQ(KernelOf(c), "cudnn");
    EXPECT_EQ(GradKernelOf(c), "cudnn");
    testing::ExpectAttentionAsOnTheCpu(c, device_);
  }
}

// Operands as MultiHeadAttention makes them: all three in one tensor [batch, length, 3, heads,
// width].
TEST_F(DnnAttentionTest, OperandsLieAsTheyLie) {
  Call c = Call::Make({2, 3, 3, 20, 20, 16, 16}, DType::kF16, {.causal = true});
  for (Tensor* t : {&c.q, &c.k, &c.v}) *t = Randn({2, 20, 3, 3, 16}).To(DType::kF16);
  c.view = [](size_t i, const Tensor& x) {
    const auto at = static_cast<int64_t>(i);
    return Permute(Squeeze(Slice(x, 2, at, at + 1), 2), {0, 2, 1, 3});
  };
  EXPECT_EQ(KernelOf(c), "cudnn");
  EXPECT_EQ(GradKernelOf(c), "cudnn");
  testing::ExpectAttentionAsOnTheCpu(c, device_);
}

// Whether a view begins at a multiple of 16 bytes is known only once it exists.
TEST_F(DnnAttentionTest, ViewsBeginAnywhere) {
  for (const int64_t from : {1, 4, 8}) {
    Call c = Call::Make({1, 2, 2, 20, 20, 16, 16}, DType::kF16);
    c.q = Randn({2 * 20 * 16 + 8}).To(DType::kF16);
    c.view = [from](size_t i, const Tensor& x) {
      return i == 0 ? Reshape(Slice(x, 0, from, from + 2 * 20 * 16), {1, 2, 20, 16}) : x;
    };
    EXPECT_EQ(KernelOf(c), "cudnn");
    testing::ExpectAttentionAsOnTheCpu(c, device_);
  }
}

// Takes a gradient that is one number for all elements.
TEST_F(DnnAttentionTest, EitherKernelOfTheGradientGoesWithItsResult) {
  testing::ExpectAttentionAsOnTheCpu(
      Call::Make({1, 2, 2, 20, 30, 16, 16}, DType::kBF16, {.causal = true}), device_, true);
}

TEST_F(DnnAttentionTest, TheRestIsOurs) {
  const Sizes fits = {1, 2, 2, 20, 24, 16, 16};
  std::vector<std::pair<const char*, Call>> calls;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    calls.emplace_back("numbers that are no halves", Call::Make(fits, dtype));
  }
  calls.emplace_back("dropout", Call::Make(fits, DType::kF16, {.dropout = 0.1}));
  calls.emplace_back("mask", Call::Make(fits, DType::kF16));
  calls.back().second.mask = Randn({20, 24}).To(DType::kF16);
  calls.emplace_back("a width of 12", Call::Make({1, 2, 2, 20, 24, 12, 16}, DType::kF16));
  calls.emplace_back("values of 20", Call::Make({1, 2, 2, 20, 24, 16, 20}, DType::kF16));
  calls.emplace_back("a width of 136", Call::Make({1, 2, 2, 20, 24, 136, 16}, DType::kF16));
  calls.emplace_back("15 queries", Call::Make({1, 2, 2, 15, 24, 16, 16}, DType::kF16));
  calls.emplace_back("columns apart", Call::Make({1, 2, 2, 16, 16, 16, 16}, DType::kF16));
  calls.back().second.view = [](size_t i, const Tensor& x) {
    return i == 0 ? Permute(x, {0, 1, 3, 2}) : x;
  };
  calls.emplace_back("rows that begin at odd places",
                     Call::Make({1, 2, 2, 20, 24, 16, 16}, DType::kF16));
  calls.back().second.k = Randn({1, 2, 24, 20}).To(DType::kF16);
  calls.back().second.view = [](size_t i, const Tensor& x) {
    return i == 1 ? Slice(x, 3, 0, 16) : x;
  };
  calls.emplace_back("rows that are one", Call::Make(fits, DType::kF16));
  calls.back().second.v = Randn({1, 2, 1, 16}).To(DType::kF16);
  calls.back().second.view = [](size_t i, const Tensor& x) {
    return i == 2 ? x.Expand({1, 2, 24, 16}) : x;
  };
  for (const auto& [what, c] : calls) {
    SCOPED_TRACE(what);
    EXPECT_EQ(KernelOf(c), "by_tiles");
    EXPECT_EQ(GradKernelOf(c), "by_tiles");
  }
}

TEST_F(DnnAttentionTest, EmptyCallsAreOurs) {
  for (const Sizes& s : {Sizes{0, 2, 2, 20, 24, 16, 16}, Sizes{1, 0, 0, 20, 24, 16, 16},
                         Sizes{1, 2, 2, 20, 0, 16, 16}, Sizes{1, 2, 2, 20, 24, 16, 0}}) {
    EXPECT_EQ(KernelOf(Call::Make(s, DType::kF16)), "by_tiles");
  }
}

TEST_F(DnnAttentionTest, IsOursWithoutTheLibrary) {
  if (fake_ == nullptr) GTEST_SKIP() << "a GPU has it";
  libraries_.reset();
  EXPECT_EQ(KernelOf(Call::Make({1, 2, 2, 20, 24, 16, 16}, DType::kF16)), "by_tiles");
}

TEST_F(DnnAttentionTest, CanBeSwitchedOff) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not asked cuDNN yet
  EXPECT_EXIT(
      {
        setenv("FIRN_CUDNN_ATTENTION", "0", 1);
        const std::string kernel = KernelOf(Call::Make({1, 2, 2, 20, 24, 16, 16}, DType::kF16));
        std::exit(kernel == "by_tiles" ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

// cuDNN compiles each graph, which takes seconds.
TEST_F(DnnAttentionTest, SizesThatChangeAllTheTimeAreNotPlannedForEver) {
  if (fake_ == nullptr) GTEST_SKIP() << "a GPU would take minutes";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        int64_t planned = 0;
        for (int64_t keys = 20; keys < 60; ++keys) {
          const Call c = Call::Make({1, 1, 1, 16, keys, 8, 8}, DType::kF16);
          if (KernelOf(c) == "cudnn") ++planned;
        }
        std::exit(planned == 32 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(DnnAttentionTest, FrozenStepsAreRecorded) {
  const Call c = Call::Make({2, 2, 2, 20, 24, 16, 16}, DType::kF16, {.causal = true});
  EXPECT_EQ(KernelOf(c), "cudnn");
  EXPECT_EQ(GradKernelOf(c), "cudnn");
  const auto step = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    std::vector<Tensor> leaves;
    for (const Tensor& t : {q, k, v}) leaves.push_back(t.Detach().SetRequiresGrad());
    const Tensor y =
        ScaledDotProductAttention(leaves[0], leaves[1], leaves[2], {.is_causal = c.attrs.causal});
    return Grad({Sum(y * y)}, leaves);
  };
  const Tensor in[] = {c.q.To(device_), c.k.To(device_), c.v.To(device_)};
  const std::vector<Tensor> want = step(in[0], in[1], in[2]);
  StaticGraph frozen = Freeze(step, in[0], in[1], in[2]);
  for (int run = 0; run < 3; ++run) {
    const TensorList got = frozen.Call(in);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(got[i].To(Device::Cpu()).Equals(want[i].To(Device::Cpu()))) << run << ", " << i;
    }
  }
  EXPECT_EQ(frozen.device_graph_runs(), 2) << "all but the first with these addresses";
}

// --- What cuDNN says -----------------------------------------------------------------------------

cuda::DnnAttentionCall Dense(const Sizes& s, DType dtype, bool grad, bool causal) {
  const auto by_rows = [](int64_t heads, int64_t rows, int64_t columns) {
    return cuda::DnnAttentionCall::Strides{rows * heads * columns, columns, heads * columns, 1};
  };
  cuda::DnnAttentionCall c{.grad = grad, .causal = causal, .dtype = dtype};
  c.batch = s.batch, c.heads = s.heads, c.kv_heads = s.kv_heads;
  c.queries = s.queries, c.keys = s.keys, c.width = s.width, c.value_width = s.value_width;
  c.q = by_rows(s.heads, s.queries, s.width);
  c.k = by_rows(s.kv_heads, s.keys, s.width);
  c.v = by_rows(s.kv_heads, s.keys, s.value_width);
  c.y = c.dy = by_rows(s.heads, s.queries, s.value_width);
  return c;
}

TEST(DnnAttentionGraphTest, CudnnItselfHasEnginesForIt) {
  if (!CudnnPlans()) GTEST_SKIP() << "cuDNN and a driver's library, or the toolkit's stub of it";
  for (const int capability : {80, 90, 100}) {
    for (const DType dtype : kHalves) {
      for (const bool grad : {false, true}) {
        for (const bool causal : {false, true}) {
          for (const Sizes& s :
               {Sizes{2, 8, 8, 512, 512, 64, 64}, Sizes{1, 6, 2, 77, 131, 128, 128},
                Sizes{1, 2, 2, 200, 100, 8, 8}}) {
            SCOPED_TRACE(::testing::Message() << capability << " " << dtype << " " << grad << " "
                                              << causal << " " << s.queries);
            EXPECT_EQ(WhyCudnnRefuses(Dense(s, dtype, grad, causal), capability), "");
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace firn
